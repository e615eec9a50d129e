/** How agents get their identities: the three modes, names without case, two nodes at once. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { adjectives, isMemorable, nouns } from '../../base/memorable.ts'
import { nameKey, slugOf } from '../../base/names.ts'
import { insertProject } from '../../store/projects.ts'
import { local } from '../access/callers.ts'
import { type Hub, inside, type Rules } from '../hub/hub.ts'
import { ensureProject, listProjects } from '../projects/projects.ts'
import { actAs } from './acting.ts'
import { ensureAgent } from './agents.ts'
import { pageAgents, whois } from './profiles.ts'
import { createIdentity, type Introduction, register } from './registration.ts'

const project = '/srv/code/backend'
const me: Introduction = { project }

/** The same hub, which draws only the first words of each list: names run out, and two draw the same. */
function fewWords(hub: Hub, words: number): Hub {
  const below = (count: number) => hub.ids.below(count === adjectives.length || count === nouns.length ? words : count)
  return { ...hub, ids: { ...hub.ids, below } }
}

eachEngine('Registering', (open) => {
  const start = async (names: Rules['names'] = 'coerce') => {
    const database = await open()
    const clock = new TestClock()
    const connect = async (mode = names) => openTestHub(await database.connect(), { clock, rules: { names: mode } })
    return { clock, connect, hub: await connect() }
  }

  verifies(['mail.agent.policy', 'mail.agent.updated'], 'makes an agent with what it says of itself', async () => {
    const { clock, hub } = await start()
    const { profile, renamed } = await register(hub, local, {
      ...me,
      name: 'BlueLake',
      program: 'codex',
      model: 'm1',
      task: 'Auth',
    })
    expect(renamed).toBeUndefined()
    expect(profile).toEqual({
      id: expect.any(Number),
      projectId: (await ensureProject(hub, local, project)).id,
      project: expect.stringMatching(/^backend-[0-9a-f]{6}$/),
      name: 'BlueLake',
      program: 'codex',
      model: 'm1',
      task: 'Auth',
      contactPolicy: 'auto',
      attachmentsPolicy: 'auto',
      roles: [],
      unread: 0,
      createdAt: clock.now(),
      activeAt: clock.now(),
    })
    clock.advance(1000)
    const again = { ...profile, model: 'm2', activeAt: clock.now() }
    expect((await register(hub, local, { ...me, name: 'BlueLake', model: 'm2' })).profile).toEqual(again)
    expect((await register(hub, local, { ...me, name: 'BlueLake', task: '' })).profile).toEqual({ ...again, task: '' })
    expect(await whois(hub, local, project, 'bluelake')).toEqual({ ...again, task: '' })
    await hub.close()
  })

  verifies('mail.agent.updated', 'keeps the policy of an agent that came by another door', async () => {
    const { hub } = await start()
    const { id } = await ensureAgent(hub, local, { project, name: 'alice' })
    const { profile } = await register(hub, local, { ...me, name: 'Alice', program: 'p' })
    expect(profile).toMatchObject({ id, name: 'alice', contactPolicy: 'open', program: 'p', model: 'unknown' })
    await hub.close()
  })

  verifies('mail.agent.client', 'fills the program from the client where nothing is known yet', async () => {
    const { hub } = await start()
    const named = { ...me, name: 'BlueLake' }
    expect((await register(hub, local, named)).profile).toMatchObject({
      program: 'unknown',
      model: 'unknown',
      task: '',
    })
    expect((await register(hub, local, { ...named, client: 'cursor' })).profile).toMatchObject({ program: 'cursor' })
    expect((await register(hub, local, { ...named, client: 'another' })).profile).toMatchObject({ program: 'cursor' })
    expect((await register(hub, local, { ...named, program: 'mine', client: 'x' })).profile).toMatchObject({
      program: 'mine',
    })
    expect((await createIdentity(hub, local, { ...me, client: 'zed' })).profile).toMatchObject({ program: 'zed' })
    await hub.close()
  })

  verifies(
    ['mail.agent.same', 'mail.name.existing'],
    'is the same agent again in any case, after a restart, on another connection and in every mode',
    async () => {
      const { hub, connect } = await start()
      const { profile } = await register(hub, local, { ...me, name: 'GreenCastle', task: 'Auth' })
      await ensureAgent(hub, local, { project, name: 'my_bot' })
      await hub.close()
      for (const mode of ['strict', 'coerce', 'always_auto'] as const) {
        const next = await connect(mode)
        const again = await register(next, local, { ...me, name: ' GREENcastle ' })
        expect(again).toEqual({ profile: { ...profile, activeAt: expect.any(Number) } })
        expect((await register(next, local, { ...me, name: 'My_Bot' })).profile.name).toBe('my_bot')
        expect((await pageAgents(next, local, project, { limit: 10 })).agents).toHaveLength(2)
        await next.close()
      }
    },
  )

  verifies('mail.name.coerce', 'coerces a new name that is not well formed, and says so', async () => {
    const { hub } = await start()
    for (const name of ['backend', 'Build Bot!', '', 'GreenCastleTower']) {
      const { profile, renamed } = await register(hub, local, { ...me, name })
      expect(isMemorable(profile.name)).toBe(true)
      expect(renamed).toEqual({ requested: name, note: expect.stringContaining(`You are ${profile.name}`) })
    }
    expect(await register(hub, local, { ...me, name: 'MyOwn' })).toEqual({
      profile: expect.objectContaining({ name: 'MyOwn' }),
    })
    const { profile, renamed } = await register(hub, local, me)
    expect([isMemorable(profile.name), renamed]).toEqual([true, undefined])
    await hub.close()
  })

  verifies('mail.name.strict', 'refuses such a name when strict, makes nothing, and knows a free one', async () => {
    const { hub } = await start('strict')
    for (const there of [false, true]) {
      const refused = await register(hub, local, { ...me, name: 'backend' }).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('"backend"') })
      const [, free = ''] = /name such as (\w+), which is free/.exec((refused as { hint: string }).hint) ?? []
      expect(isMemorable(free)).toBe(true)
      expect((await listProjects(hub, local, { limit: 10 })).projects.map(({ key }) => key)).toEqual([
        'commons',
        ...(there ? [project] : []),
      ])
      expect((await register(hub, local, { ...me, name: free })).profile.name).toBe(free)
    }
    expect(isMemorable((await register(hub, local, me)).profile.name)).toBe(true)
    await hub.close()
  })

  verifies('mail.name.always-auto', 'generates every new name when always_auto, and says so', async () => {
    const { hub } = await start('always_auto')
    const { profile, renamed } = await register(hub, local, { ...me, name: 'GreenLagoons' })
    expect(profile.name).not.toBe('GreenLagoons')
    expect(renamed?.requested).toBe('GreenLagoons')
    expect((await register(hub, local, { ...me, name: profile.name })).profile.id).toBe(profile.id)
    await hub.close()
  })

  verifies('mail.name.reserved', 'refuses the name of people however it is written', async () => {
    const { hub } = await start('always_auto')
    const error = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('reserved for people') }
    for (const name of ['HumanOverseer', 'humanoverseer', ' HUMANOVERSEER'])
      await expect(register(hub, local, { ...me, name })).rejects.toMatchObject(error)
    await expect(createIdentity(hub, local, { ...me, hint: 'human overseer' })).rejects.toMatchObject(error)
    await hub.close()
  })

  verifies('mail.agent.new', 'create takes the letters and digits of a hint, whatever the mode', async () => {
    for (const mode of ['strict', 'coerce', 'always_auto'] as const) {
      const { hub } = await start(mode)
      const { profile, renamed } = await createIdentity(hub, local, { ...me, hint: 'back-end bot 7' })
      expect([profile.name, renamed]).toEqual(['backendbot7', undefined])
      const again = await createIdentity(hub, local, { ...me, hint: 'BackEndBot7' })
      expect(isMemorable(again.profile.name)).toBe(true)
      expect(again.renamed?.requested).toBe('BackEndBot7')
      await hub.close()
    }
  })

  verifies('mail.agent.new', 'create makes a new agent each time, by the hint if it can', async () => {
    const { hub } = await start()
    const hinted = (hint: string) => createIdentity(hub, local, { ...me, hint })
    expect(await hinted(' Green Castle! ')).toMatchObject({ profile: { name: 'GreenCastle', contactPolicy: 'auto' } })
    for (const hint of ['GreenCastle', 'greenCASTLE', '***', 'x'.repeat(101)]) {
      const { profile, renamed } = await hinted(hint)
      expect(isMemorable(profile.name)).toBe(true)
      expect(renamed).toEqual({ requested: hint, note: expect.stringContaining(profile.name) })
    }
    expect((await hinted('GreenCastle')).renamed?.note).toContain('is somebody else already')
    expect((await createIdentity(hub, local, me)).renamed).toBeUndefined()
    expect((await pageAgents(hub, local, project, { limit: 100 })).agents).toHaveLength(7)
    await hub.close()
  })

  verifies(
    'mail.name.unique',
    'two nodes that create and register at once share no name and lose no agent',
    async () => {
      const { hub, connect } = await start()
      const nodes = [hub, await connect()].map((node) => fewWords(node, 8))
      const both = nodes.flatMap((node) => Array.from({ length: 10 }, () => node))
      const created = await Promise.all(both.map((node) => createIdentity(node, local, { ...me, hint: 'BlueLake' })))
      expect(new Set(created.map(({ profile }) => nameKey(profile.name))).size).toBe(20)
      expect(created.filter(({ renamed }) => renamed === undefined)).toHaveLength(1)
      const registered = await Promise.all(both.map((node) => register(node, local, { ...me, name: 'RedBarn' })))
      expect(new Set(registered.map(({ profile }) => profile.id)).size).toBe(1)
      expect((await pageAgents(hub, local, project, { limit: 100 })).agents).toHaveLength(21)
      for (const node of nodes) await node.close()
    },
  )

  verifies('mail.name.unique', 'a project in which every combination is used still gets new names', async () => {
    const { hub } = await start()
    const few = fewWords(hub, 3)
    const made: string[] = []
    for (let n = 0; n < 30; n++) made.push((await createIdentity(few, local, me)).profile.name)
    expect(new Set(made).size).toBe(30)
    expect(made.filter((name) => /^[A-Z][a-z]+[A-Z][a-z]+$/.test(name)).length).toBeLessThanOrEqual(9)
    const numbered = made.filter((name) => /^[A-Z][a-z]+[A-Z][a-z]+\d+$/.test(name))
    expect(numbered.length).toBeGreaterThanOrEqual(21)
    expect((await register(hub, local, { ...me, name: numbered[0] })).profile.name).toBe(numbered[0])
    await hub.close()
  })

  verifies(
    'mail.project.slug',
    'projects whose short hash is the same, or whose slug was used as a key, are told apart',
    async () => {
      const { hub } = await start()
      // Found by trying: their hashes begin with the same six digits.
      const [one, two] = [
        await ensureProject(hub, local, '/srv/596/app'),
        await ensureProject(hub, local, '/srv/5993/app'),
      ]
      expect(one.slug).toBe('app-db6b62')
      expect(two.slug).toMatch(/^app-db6b62[0-9a-f]{2}$/)
      // Older versions of Parley took any text for a key.
      const squatter = await hub[inside].db.tx((tx) =>
        insertProject(tx, { slug: 'squatter-123456', humanKey: slugOf('/srv/code/web'), now: 0 }),
      )
      const web = await ensureProject(hub, local, '/srv/code/web')
      expect(web.slug).toMatch(/^web-[0-9a-f]{8}$/)
      expect((await ensureProject(hub, local, slugOf('/srv/code/web'))).id).toBe(squatter.id)
      expect(squatter.id).not.toBe(web.id)
      await hub.close()
    },
  )

  verifies(
    'mail.project.key',
    'a key means one project with or without a slash at its end, and its slug means it too',
    async () => {
      const { hub, connect } = await start()
      const other = await connect()
      const made = await ensureProject(hub, local, '/srv/code/web/')
      expect(made.key).toBe('/srv/code/web')
      for (const key of ['/srv/code/web', '/srv/code/web//', ' /srv/code/web', made.slug]) {
        expect(await ensureProject(hub, local, key)).toEqual(made)
        expect(await ensureProject(other, local, key)).toEqual(made)
      }
      expect(await actAs(hub, as('ann', '/srv/code/web/'))).toMatchObject({ projectId: made.id })
      await hub.close()
      await other.close()
    },
  )
})
