/** Conversations of two, when both write at once through different processes. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { converse, type Said } from './conversing.ts'

const [waves, each] = [3, 15]

eachEngine('A conversation', (open) => {
  verifies('post.send.at-once', 'has one order, and the feed tells of each message once', async () => {
    const database = await open()
    const [one, two] = [await openTestHub(await database.connect()), await openTestHub(await database.connect())]
    const [alice, bob] = [
      await ensureAgent(one, local, { project: 'commons', name: 'alice' }),
      await ensureAgent(one, local, { project: 'commons', name: 'bob' }),
    ]
    const say = (hub: typeof one, from: string, to: string) =>
      converse(hub, as(from), { to: { name: to }, subject: 'At once', body: `from ${from}` })
    const said: Said[] = []
    // The first of them begin it, and the others know it.
    for (let wave = 0; wave < waves; wave++) {
      const sends = Array.from({ length: each }, () => [
        say(one, 'alice', 'bob'),
        say(two, 'bob', 'alice'),
        say(two, 'alice', 'bob'),
      ])
      said.push(...(await Promise.all(sends.flat())))
    }
    expect(new Set(said.map(({ threadUid }) => threadUid)).size).toBe(1)
    const db = await database.connect()
    const stored = await db.all<{ id: number; thread_id: number; seq: number; sender_id: number }>(
      sql`SELECT id, thread_id, seq, sender_id FROM messages ORDER BY seq`,
    )
    expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: waves * each * 3 }, (_, n) => n + 1))
    const told = await db.all<{ message_id: number; agent_id: number; actor: string; wakes: string }>(
      sql`SELECT message_id, agent_id, actor, wakes FROM changes WHERE kind = 'message.sent' ORDER BY message_id`,
    )
    const otherOf = (sender: number) => (sender === alice.id ? bob.id : alice.id)
    expect(told).toEqual(
      stored
        .toSorted((a, b) => a.id - b.id)
        .map(({ id, thread_id, sender_id }) => ({
          message_id: id,
          agent_id: sender_id,
          actor: 'local',
          wakes: `mail:${otherOf(sender_id)} thread:${thread_id}`,
        })),
    )
    expect(await db.all(sql`SELECT id, unread FROM agents ORDER BY id`)).toEqual([
      { id: alice.id, unread: waves * each },
      { id: bob.id, unread: waves * each * 2 },
    ])
  })
})
