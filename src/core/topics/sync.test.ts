/** Syncing with a topic, on both engines: what only several connections, a lost answer or a turned clock can show. */

import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { codeOf, enter, outgoing, plain, session } from '../../../test/support/topics.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { commons } from '../../base/names.ts'
import { updateStatus } from '../../store/threads/threads.ts'
import { local } from '../access/callers.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { listPresent, resetCursor } from './members.ts'
import { type Syncing, sync } from './sync.ts'
import { closeTopic, needTopic } from './topics.ts'

eachEngine('A sync', (open) => {
  const start = async (clock = new TestClock()) => {
    const database = await open()
    const hub = await openTestHub(await database.connect(), { clock })
    const other = await openTestHub(await database.connect(), { clock })
    const say = (uid: string, who: string, ...bodies: string[]) =>
      sync(hub, session(who), uid, { ...plain, autoAdvance: false, outbox: bodies.map((body) => outgoing(body)) })
    const read = async (uid: string, who: string, request: Partial<Syncing> = {}) =>
      (await sync(hub, session(who), uid, { ...plain, ...request })).received.map(({ body }) => body)
    const close = async () => {
      await hub.close()
      await other.close()
    }
    return { hub, other, clock, say, read, close }
  }

  verifies(
    ['bus.wait.untouched', 'all.engines.alike'],
    'whose answer was lost is as if it had never read, but what it sent stays sent',
    async () => {
      const { hub, say, read, close } = await start()
      const uid = await enter(hub, 'lost', 'alice', 'bob')
      await say(uid, 'alice', 'one', 'two')
      const lost = await sync(hub, session('bob'), uid, { ...plain, maxItems: 1, outbox: [outgoing('mine')] })
      expect(lost.cursor.lastSeq).toBe(1)
      await lost.undo()
      await lost.undo()
      expect(await read(uid, 'bob', { autoAdvance: false, includeSelf: true })).toEqual(['one', 'two', 'mine'])
      // An acknowledgement in the same call stays.
      const acked = await sync(hub, session('bob'), uid, { ...plain, autoAdvance: false, ackThrough: 1 })
      await acked.undo()
      const late = await sync(hub, session('bob'), uid, plain)
      expect(late.received.map(({ body }) => body)).toEqual(['two'])
      // A retry has read on before the undo came: better twice than never.
      await say(uid, 'alice', 'three')
      expect(await read(uid, 'bob')).toEqual(['three'])
      await late.undo()
      const again = await sync(hub, session('bob'), uid, plain)
      expect(again.received.map(({ body }) => body)).toEqual(['two', 'three'])
      // But what the peer itself said it has read stays read.
      await resetCursor(hub, session('bob'), uid, again.cursor.lastSeq)
      await again.undo()
      expect(await read(uid, 'bob')).toEqual([])
      await close()
    },
  )

  verifies('bus.wait.untouched', 'whose answer was lost hands what it read to another call that waits', async () => {
    const { hub, say, close } = await start()
    const uid = await enter(hub, 'handed on', 'alice', 'bob')
    await say(uid, 'alice', 'baton')
    const lost = await sync(hub, session('bob'), uid, plain)
    const next = sync(hub, session('bob'), uid, { ...plain, waitMs: 10_000 })
    await expect.poll(() => hub[inside].wakes.size).toBe(1)
    await lost.undo()
    expect((await next).received.map(({ body }) => body)).toEqual(['baton'])
    await close()
  })

  verifies('bus.sync.order', 'by two connections under one name gives each message to one of them', async () => {
    const { hub, other, say, close } = await start()
    const uid = await enter(hub, 'shared', 'alice', 'bob')
    for (let n = 0; n < 20; n++) await say(uid, 'alice', `${n}`)
    const parts = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        sync(n % 2 === 0 ? hub : other, session('bob'), uid, { ...plain, maxItems: 1 }),
      ),
    )
    const seqs = parts.flatMap(({ received }) => received.map(({ seq }) => seq))
    expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    await close()
  })

  verifies('bus.outbox.duplicate', 'that is tried on two connections at once sends once', async () => {
    const { hub, other, read, close } = await start()
    const uid = await enter(hub, 'tried', 'alice', 'bob')
    const tries = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        sync(n % 2 === 0 ? hub : other, session('alice'), uid, { ...plain, outbox: [outgoing(`try ${n}`, 'x')] }),
      ),
    )
    expect(tries.filter(({ sent }) => sent[0]?.duplicate === false)).toHaveLength(1)
    expect(await read(uid, 'bob')).toHaveLength(1)
    await close()
  })

  verifies('bus.message.seq', 'by many at once on two connections leaves no gap and misses nothing', async () => {
    const { hub, other, close } = await start()
    const names = ['a', 'b', 'c', 'd']
    const uid = await enter(hub, 'many', ...names)
    const seen = new Map<string, number[]>(names.map((name) => [name, []]))
    const turn = async (at: Hub, name: string, bodies: string[]) => {
      const { received } = await sync(at, session(name), uid, {
        ...plain,
        outbox: bodies.map((body) => outgoing(body)),
      })
      seen.get(name)?.push(...received.map(({ seq }) => seq))
    }
    for (let n = 0; n < 10; n++)
      await Promise.all(names.map((name, i) => turn(i % 2 === 0 ? hub : other, name, [`${n}`, `${n}`])))
    for (const name of names) await turn(hub, name, [])
    const all = await hub[inside].db.all<{ seq: number; name: string }>(
      sql`SELECT m.seq, a.name FROM messages m JOIN agents a ON a.id = m.sender_id ORDER BY m.seq`,
    )
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 80 }, (_, n) => n + 1))
    for (const name of names)
      expect(seen.get(name), name).toEqual(all.filter((row) => row.name !== name).map(({ seq }) => seq))
    await close()
  })

  verifies('bus.errors.closed', 'writes nothing once the topic was closed, however close the two are', async () => {
    const { hub, other, close } = await start()
    const uid = await enter(hub, 'race', 'alice')
    const { id } = await needTopic(hub, local, commons, uid)
    // The close is written but not committed when the sync looks at the topic, and committed before its message is written.
    let written: Promise<unknown> | undefined
    await other[inside].db.tx(async (tx) => {
      await updateStatus(tx, id, { status: 'closed', closedAt: 1, reason: undefined })
      written = codeOf(sync(hub, session('alice'), uid, { ...plain, outbox: [outgoing('too late')] }))
      await atLock(other)
    })
    expect(await written).toBe('TOPIC_CLOSED')
    expect(await hub[inside].db.all(sql`SELECT COUNT(*) AS n FROM messages`)).toEqual([{ n: 0 }])
    await close()
  })

  verifies(
    ['bus.wait.closed', 'bus.sync.wait'],
    'that waits ends by a close or a send on another connection',
    async () => {
      const { hub, other, close } = await start()
      const uid = await enter(hub, 'woken', 'alice', 'bob')
      const first = sync(hub, session('bob'), uid, { ...plain, waitMs: 10_000 })
      await expect.poll(() => hub[inside].wakes.size).toBe(1)
      await sync(other, session('alice'), uid, { ...plain, outbox: [outgoing('hello')] })
      expect(await first).toMatchObject({ timedOut: false, received: [{ body: 'hello' }] })
      const second = sync(hub, session('bob'), uid, { ...plain, waitMs: 10_000 })
      await expect.poll(() => hub[inside].wakes.size).toBe(1)
      await closeTopic(other, local, commons, { uid })
      expect(await second).toMatchObject({ timedOut: false, received: [], topic: { status: 'closed' } })
      expect(hub[inside].wakes.size).toBe(0)
      await close()
    },
  )

  verifies('bus.presence.sync', 'that waits is present until its time is up, and then grows old', async () => {
    const { hub, clock, close } = await start()
    const uid = await enter(hub, 'presence', 'alice', 'bob')
    const present = async (windowMs: number) =>
      (await listPresent(hub, local, commons, { uid, windowMs, limit: 10 })).peers.map(({ name, seenAt }) => [
        name,
        clock.now() - seenAt,
      ])
    expect(await present(1_000_000)).toEqual([])
    const waits = sync(hub, session('bob'), uid, { ...plain, waitMs: 30_000 })
    await expect.poll(() => clock.pending).toBe(1)
    clock.advance(20_000)
    expect(await present(1000)).toEqual([['bob', 0]])
    clock.advance(10_000)
    expect(await waits).toMatchObject({ timedOut: true })
    clock.advance(5000)
    expect(await present(4999)).toEqual([])
    expect(await present(5000)).toEqual([['bob', 5000]])
    await close()
  })

  test('of an agent whose cursor was reset while it waits finds what is unread again', async () => {
    const { hub, other, say, read, close } = await start()
    const uid = await enter(hub, 'reset', 'alice', 'bob')
    await say(uid, 'alice', 'again')
    await read(uid, 'bob')
    const waits = sync(hub, session('bob'), uid, { ...plain, waitMs: 10_000 })
    await expect.poll(() => hub[inside].wakes.size).toBe(1)
    await resetCursor(other, session('bob'), uid, 0)
    expect((await waits).received.map(({ body }) => body)).toEqual(['again'])
    await close()
  })
})

/** Resolves once another transaction on this database waits for the lock that this one holds. SQLite's look before they lock. */
async function atLock({ [inside]: { db } }: Hub): Promise<void> {
  if (db.dialect === 'sqlite') return
  await expect
    .poll(() =>
      db.all(sql`
        SELECT 1 FROM pg_stat_activity
        WHERE application_name = current_setting('application_name') AND wait_event_type = 'Lock'`),
    )
    .not.toEqual([])
}
