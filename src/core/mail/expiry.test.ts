/** Time to live in the core, on both engines. */
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { type Draft, send } from '../messages/send.ts'
import { traceMessage } from '../pages/trace.ts'
import { announce } from '../presence/announce.ts'
import { searchProject } from '../search/project.ts'
import { readThread } from '../threads/mail-threads.ts'
import { keepExpiring } from './expiry.ts'
import { listInbox, listOutbox } from './inbox.ts'
import { markRead } from './receipts.ts'
import { acknowledge, take } from './take.ts'

eachEngine('Time to live', (open) => {
  const begin = async () => {
    const database = await open()
    const clock = new TestClock()
    const hub = async () => openTestHub(await database.connect(), { clock })
    return { clock, hub, first: await hub() }
  }
  const [ann, bob] = [as('ann'), as('bob')] as const
  const letter: Draft = {
    to: [{ name: 'bob' }],
    subject: 'Plan',
    body: 'a plan for today',
    thread: 'T-1',
    ttlMs: 60_000,
  }
  const keep = (hub: Hub) => onTestFinished(keepExpiring(hub))
  const unread = async (hub: Hub): Promise<Record<string, number>> => {
    const rows = await hub[inside].db.all<{ name: string; unread: number }>(
      sql`SELECT name, unread FROM agents WHERE name <> 'Parley'`,
    )
    return Object.fromEntries(rows.map((row) => [row.name, Number(row.unread)]))
  }
  const route = { via: 'claude', session: 's' }
  /** A look that is on its way sets its timer after the clock was turned. */
  const settled = (clock: TestClock, hub: Hub, wanted: Record<string, number>) => {
    const turned = () => {
      clock.advance(1)
      return unread(hub)
    }
    return expect.poll(turned, { interval: 2 }).toEqual(wanted)
  }

  verifies('ttl.expired.gone', 'nobody is given or told of it from then on, swept or not', async () => {
    const { clock, first: hub } = await begin()
    await send(hub, ann, { to: [{ name: 'bob' }], body: 'stays' })
    await send(hub, ann, letter)
    clock.advance(59_999)
    expect((await listInbox(hub, bob, { limit: 9 })).messages).toHaveLength(2)
    clock.advance(1)
    expect((await listInbox(hub, bob, { limit: 9 })).messages).toMatchObject([{ subject: 'stays' }])
    expect((await take(hub, bob, now))?.mail.body).toBe('stays')
    expect(await announce(hub, bob, route)).toBeUndefined()
    expect(await take(hub, bob, now)).toBeUndefined()
    // With a loan the way is another one.
    expect(await take(hub, bob, { ...now, loanMs: 1000 })).toBeUndefined()
  })

  verifies(['ttl.expired.shown', 'ttl.expired.told'], 'its sender is told once, by one of two processes', async () => {
    const { clock, hub, first } = await begin()
    const sent = await send(first, ann, { ...letter, to: [{ name: 'bob' }, { name: 'cleo', kind: 'bcc' }] })
    keep(first)
    keep(await hub())
    clock.advance(30_000)
    await activity(first).write()
    clock.advance(30_000)
    await settled(clock, first, { ann: 1, bob: 0, cleo: 0 })
    const notice = await take(first, ann, now)
    expect(notice?.mail).toMatchObject({ from: 'Parley', subject: 'Expired unread: Plan' })
    expect(notice?.mail.body).toContain(`Your message ${sent.messageId}`)
    expect(notice?.mail.body).toContain('to bob was not read within 60 s')
    expect(notice?.mail.body).not.toContain('cleo')
    expect(await take(first, ann, now)).toBeUndefined()
    const { messages } = await readThread(first, local, 'commons', { key: 'T-1', limit: 9 })
    expect(messages).toMatchObject([
      { to: [{ name: 'bob', ended: 'expired', readAt: undefined }] },
      { to: [{ name: 'ann' }] },
    ])
    const [out] = (await listOutbox(first, ann, { limit: 9 })).messages.slice(-1)
    expect(out?.bcc).toMatchObject([{ name: 'cleo', ended: 'expired', readAt: undefined }])
    expect((await traceMessage(first, operator, sent.messageId)).deliveries).toMatchObject([
      { name: 'bob', state: 'expired', readAt: undefined, reach: undefined },
      { name: 'cleo', state: 'expired' },
    ])
    const found = await searchProject(first, local, 'commons', { query: 'plan today', limit: 9 })
    expect(found.hits.map(({ id }) => id)).toContain(sent.messageId)
  })

  verifies('ttl.expired.told', 'the notice is pushed by no route, and is in the inbox', async () => {
    const { clock, first: hub } = await begin()
    await send(hub, ann, letter)
    keep(hub)
    clock.advance(60_000)
    await settled(clock, hub, { ann: 1, bob: 0 })
    expect(await announce(hub, ann, { ...route, reminds: true })).toBeUndefined()
    expect((await listInbox(hub, ann, { limit: 9 })).messages).toMatchObject([{ subject: 'Expired unread: Plan' }])
  })

  verifies('ttl.read.stays', 'a loan is waited for; what was read in time stays as it is', async () => {
    const { clock, first: hub } = await begin()
    const read = await send(hub, ann, letter)
    await markRead(hub, bob, read.messageId)
    await send(hub, ann, { ...letter, body: 'acknowledged' })
    await send(hub, ann, { ...letter, body: 'lapsed' })
    const kept = await take(hub, bob, { ...now, loanMs: 120_000 })
    const lapsed = await take(hub, bob, { ...now, loanMs: 90_000 })
    keep(hub)
    clock.advance(60_000)
    await acknowledge(hub, bob, { clientId: kept?.mail.clientId ?? '', loan: kept?.mail.loan ?? '' })
    expect(lapsed?.mail.body).toBe('lapsed')
    await settled(clock, hub, { ann: 0, bob: 1 })
    clock.advance(30_000)
    await settled(clock, hub, { ann: 1, bob: 0 })
    const { messages } = await listInbox(hub, bob, { limit: 9 })
    expect(messages.map(({ readAt }) => readAt !== undefined)).toEqual([true, true])
  })

  verifies('ttl.expired.shown', 'who finds it in its thread may still mark it as read', async () => {
    const { clock, first: hub } = await begin()
    const { messageId } = await send(hub, ann, letter)
    keep(hub)
    clock.advance(60_000)
    await settled(clock, hub, { ann: 1, bob: 0 })
    const { readAt } = await markRead(hub, bob, messageId)
    expect(readAt).toBe(clock.now())
    await settled(clock, hub, { ann: 1, bob: 0 })
    expect((await listInbox(hub, bob, { limit: 9 })).messages).toMatchObject([{ id: messageId, readAt }])
  })
})
