/** Whole steps of work, on both engines: their order, and what they leave alone. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub, registered } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Caller, local, operator } from '../access/callers.ts'
import type { ContactPolicy } from '../agents/agents.ts'
import { listAgents, whois } from '../agents/profiles.ts'
import { register } from '../agents/registration.ts'
import { type Other, setContactPolicy } from '../contacts/links.ts'
import { listLeases, reserve } from '../leases/leases.ts'
import { listInbox } from '../mail/inbox.ts'
import { findProjectCalled } from '../projects/projects.ts'
import { lookForConflicts, prepareForThread, shakeHands, startWork } from './work.ts'

const project = '/srv/code/app'
const me = { project }
const wanted = { patterns: ['src/**'], exclusive: true, reason: '', ttlMs: 60_000 }
const inbox = { limit: 10 }

eachEngine('Work', (open) => {
  const start = async (...names: string[]) => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    for (const name of names) await register(hub, local, { ...me, name })
    return { hub, clock, as: (name: string) => registered(name, project) }
  }

  verifies('mail.macro.start-checked', 'begins with what may be wrong, and then leaves nothing behind', async () => {
    const { hub } = await start()
    const bad = { ...wanted, patterns: ['src/**', '{a'] }
    await expect(startWork(hub, local, { newcomer: me, wanted: bad, inbox })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await findProjectCalled(hub, project)).toBeUndefined()
    const { registered, reserved } = await startWork(hub, local, { newcomer: me, wanted, inbox })
    expect(reserved.granted).toMatchObject([{ agent: registered.profile.name, pattern: 'src/**' }])
    await hub.close()
  })

  verifies('mail.macro.start-checked', 'registers nobody for patterns that are too hard to compare', async () => {
    const { hub, as } = await start('GreenCastle')
    const hard = (end: string, count: number) => ({
      ...wanted,
      patterns: Array.from({ length: count }, (_, n) => `${'**/a*/'.repeat(7)}**/[${end}]${n}`),
    })
    await reserve(hub, as('GreenCastle'), { ...hard('G', 100), onConflict: 'grant' })
    const begun = startWork(hub, local, { newcomer: { ...me, name: 'BlueLake' }, wanted: hard('B', 50), inbox })
    await expect(begun).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining('fewer') })
    expect((await listAgents(hub, local, project, { limit: 10 })).agents).toHaveLength(1)
    await hub.close()
  })

  verifies('mail.macro.prepare-missing', 'is prepared for also before the first message', async () => {
    const { hub, as } = await start()
    const wish = { thread: 'T-1', refining: { refine: false }, inbox: () => inbox }
    const early = prepareForThread(hub, local, { ...wish, who: { known: as('BlueLake') } })
    await expect(early).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    const { thread } = await prepareForThread(hub, local, { ...wish, who: { ...me, name: 'BlueLake' } })
    expect(thread).toBeUndefined()
    const again = await prepareForThread(hub, local, { ...wish, who: { known: as('BlueLake') } })
    expect(again.registered.profile.name).toBe('BlueLake')
    expect((await listAgents(hub, local, project, { limit: 10 })).agents).toHaveLength(1)
    await hub.close()
  })

  verifies('mail.macro.cycle', 'looks for conflicts without ending what was held before', async () => {
    const { hub, as } = await start('GreenCastle')
    const active = async () =>
      (await listLeases(hub, local, project, { activeOnly: true, limit: 10 })).leases.map(({ pattern }) => pattern)
    // In the same millisecond, so that the time of a lease does not tell whether it is new.
    await reserve(hub, as('GreenCastle'), { ...wanted, onConflict: 'grant' })
    const looked = await lookForConflicts(hub, as('GreenCastle'), { ...wanted, patterns: ['src/**', 'docs/**'] })
    expect(looked.reserved.granted.map(({ pattern }) => pattern)).toEqual(['src/**', 'docs/**'])
    expect(looked.released.released).toBe(1)
    expect(await active()).toEqual(['src/**'])
    await hub.close()
  })

  verifies('mail.macro.answers', 'is answered for another only where its policy lets a message pass', async () => {
    const { hub, as } = await start('GreenCastle', 'BlueLake')
    await register(hub, local, { project: '/srv/other', name: 'RedStone' })
    const policy = (name: string, policy: ContactPolicy, home = project) =>
      setContactPolicy(hub, registered(name, home), policy)
    const shake = async (other: Other, caller: Caller = local) => {
      const welcome = { subject: 'Hello', body: 'at last' }
      const shaken = await shakeHands(hub, { ...as('GreenCastle'), caller }, { with: other, accept: true, welcome })
      return [shaken.request.status, shaken.answer?.status, shaken.left, shaken.welcome?.subject]
    }
    const waiting = ['pending', undefined, true, undefined]
    const blue = { name: 'BlueLake' }
    const red = { name: 'RedStone', project: '/srv/other' }
    await policy('BlueLake', 'contacts_only')
    expect(await shake(blue)).toEqual(waiting)
    expect(await shake(red)).toEqual(waiting)
    // Named with its project, one's own is no other.
    await policy('BlueLake', 'auto')
    expect(await shake({ ...blue, project })).toEqual(['pending', 'approved', false, 'Hello'])
    await policy('RedStone', 'open', '/srv/other')
    expect(await shake(red)).toEqual(['pending', 'approved', false, 'Hello'])
    await register(hub, local, { project, name: 'GoldenBear' })
    await policy('GoldenBear', 'contacts_only')
    expect(await shake({ name: 'GoldenBear' }, operator)).toEqual(['pending', 'approved', false, 'Hello'])
    await hub.close()
  })

  verifies('mail.macro.handshake', 'is done for somebody who is not active by it', async () => {
    const { hub, clock, as } = await start('GreenCastle', 'BlueLake')
    const { activeAt } = await whois(hub, local, project, 'BlueLake')
    clock.advance(60_000)
    const welcome = { subject: 'Hello', body: 'at last' }
    const asked = await shakeHands(hub, as('GreenCastle'), { with: { name: 'BlueLake' }, accept: false, welcome })
    expect(asked).toMatchObject({ request: { status: 'pending' }, answer: undefined, welcome: undefined })
    const made = await shakeHands(hub, as('GreenCastle'), { with: { name: 'BlueLake' }, accept: true, welcome })
    expect(made).toMatchObject({ answer: { status: 'approved' }, welcome: { subject: 'Hello' } })
    expect((await whois(hub, local, project, 'BlueLake')).activeAt).toBe(activeAt)
    expect((await whois(hub, local, project, 'GreenCastle')).activeAt).toBe(clock.now())
    expect((await listInbox(hub, as('BlueLake'), inbox)).messages).toHaveLength(2)
    await hub.close()
  })
})
