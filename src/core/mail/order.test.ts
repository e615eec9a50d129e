/** The order of an inbox, on both engines: that of the commits, by whichever way and node a message came. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub, registered } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { nextTurn } from '../../base/clock.ts'
import { overseer } from '../../base/names.ts'
import { local, operator } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { requestContact } from '../contact-requests/requests.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { shakeHands } from '../macros/work.ts'
import { reply } from '../messages/reply.ts'
import { send } from '../messages/send.ts'
import { listInbox } from './inbox.ts'

const project = '/srv/order'
const names = Array.from({ length: 10 }, (_, n) => `agent-${n}`)
const bob = registered('bob', project)

const person = { caller: operator, project, name: overseer }
const everybody = ['bob', ...names.slice(1)].map((name) => ({ name }))
const someone = (n: number) => registered(names[n % 10] ?? '', project)

/** Every way in which mail comes into the inbox of bob, who was sent `first`. */
const ways: readonly [way: string, go: (hub: Hub, n: number, first: number) => Promise<unknown>][] = [
  ['to one', (hub, n) => send(hub, someone(n), { to: [{ name: 'bob' }], body: 'x' })],
  ['to ten', (hub, n) => send(hub, someone(n), { to: everybody, body: 'x' })],
  ['in a thread', (hub, n) => send(hub, someone(n), { to: everybody.toReversed(), thread: 'T', body: 'x' })],
  ['mailbox', (hub, n) => send(hub, as('box', project), { to: [{ name: 'bob' }], body: 'x', clientId: `c-${n}` })],
  [
    'reply',
    (hub, _, first) => reply(hub, bob, { messageId: first, body: 'x', copies: [{ name: 'bob', kind: 'bcc' }] }),
  ],
  ['a person', (hub) => send(hub, person, { to: [{ name: 'bob' }], body: 'x' })],
  ['a request', (hub, n) => requestContact(hub, as(`asker-${n}`, project), { to: { name: 'bob' } })],
  [
    'a welcome',
    (hub, n) =>
      shakeHands(hub, as(`guest-${n}`, project), {
        with: { name: 'bob' },
        accept: true,
        welcome: { subject: 'Hello', body: 'x' },
      }),
  ],
]

eachEngine('The order of an inbox', (open, dialect) => {
  /** Two nodes; the clock of the second is behind. */
  async function nodes(behindMs: number): Promise<[Hub, Hub, TestClock]> {
    const database = await open()
    const clock = new TestClock()
    const hubs = [
      await openTestHub(await database.connect(), { clock }),
      await openTestHub(await database.connect(), { clock: new TestClock(clock.now() - behindMs) }),
    ] as const
    for (const name of ['bob', ...names]) await ensureAgent(hubs[0], local, { project, name })
    return [...hubs, clock]
  }

  const say = async (hub: Hub, body: string) =>
    (await send(hub, registered('agent-0', project), { to: [{ name: 'bob' }], body })).messageId

  /** Reads on from `after` until nothing is left. */
  async function readOn(hub: Hub, after: number, seen: number[]): Promise<number> {
    const { messages } = await listInbox(hub, bob, { after, limit: 3 })
    seen.push(...messages.map(({ id }) => id).toReversed())
    return messages[0] === undefined ? after : readOn(hub, messages[0].id, seen)
  }

  verifies('mail.inbox.clocks', 'two nodes whose clocks differ: whoever reads on is shown every message', async () => {
    const [ahead, behind, clock] = await nodes(100)
    const [sent, seen]: [number[], number[]] = [[], []]
    let after = 0
    for (let n = 0; n < 20; n++) {
      sent.push(await say(n % 2 === 0 ? ahead : behind, `${n}`))
      after = await readOn(ahead, after, seen)
    }
    // And one node alone whose clock goes back.
    for (let n = 0; n < 4; n++) {
      clock.advance(-60_000)
      sent.push(await say(ahead, `${n}`))
      after = await readOn(behind, after, seen)
    }
    expect(seen).toEqual(sent)
    const { messages } = await listInbox(ahead, bob, { limit: 100 })
    expect(messages.map(({ id }) => id)).toEqual(sent.toReversed())
    // Backwards, page by page.
    const paged: number[] = []
    for (let before: number | undefined; ; ) {
      const page = await listInbox(behind, bob, { limit: 5, ...(before !== undefined && { before }) })
      paged.push(...page.messages.map(({ id }) => id))
      before = paged.at(-1)
      if (!page.more) break
    }
    expect(paged).toEqual(sent.toReversed())
  })

  verifies(
    'mail.inbox.clocks',
    'since a time is a filter: what it lets through keeps the order, and is read on by id',
    async () => {
      const [ahead, behind, clock] = await nodes(10_000)
      const time = clock.now() - 5_000
      const sent = [await say(ahead, '1'), await say(behind, 'too old'), await say(ahead, '2'), await say(ahead, '3')]
      clock.advance(-2_000)
      sent.push(await say(ahead, '4'))
      const first = await listInbox(behind, bob, { since: time, limit: 2 })
      expect([first.messages.map(({ id }) => id), first.more]).toEqual([[sent[2], sent[0]], true])
      const rest = await listInbox(behind, bob, { since: time, after: first.messages[0]?.id, limit: 2 })
      expect([rest.messages.map(({ id }) => id), rest.more]).toEqual([[sent[4], sent[3]], false])
    },
  )

  verifies(
    ['mail.inbox.clocks', 'mail.inbox.reads-on'],
    'senders at once, on two nodes and by every way: a reader meanwhile passes over nothing',
    async () => {
      const [ahead, behind] = await nodes(100)
      const first = await say(ahead, 'first')
      // The first send creates a new agent: other sends under that name would wait for it.
      for (const newcomer of [as('box', project), person])
        await send(ahead, newcomer, { to: [{ name: 'bob' }], body: 'hello' })
      const seen: number[] = []
      let over = false
      const reading = (async () => {
        let after = 0
        while (!over) {
          after = await readOn(ahead, await readOn(behind, after, seen), seen)
          await nextTurn()
        }
        await readOn(behind, after, seen)
      })()
      await Promise.all(
        Array.from({ length: 160 }, (_, n) => ways[n % ways.length]?.[1](n % 3 === 0 ? behind : ahead, n, first)),
      ).finally(() => {
        over = true
      })
      await reading
      const stored: number[] = []
      for (let before: number | undefined; ; before = stored.at(-1)) {
        const page = await listInbox(ahead, bob, { limit: 100, ...(before !== undefined && { before }) })
        stored.push(...page.messages.map(({ id }) => id))
        if (!page.more) break
      }
      expect(stored.length).toBeGreaterThan(160)
      expect(seen).toEqual(stored.toReversed())
    },
  )

  // SQLite has one writer at a time: ids are in the order of the commits.
  if (dialect === 'postgres')
    for (const [n, [way, go]] of ways.entries())
      verifies('mail.inbox.clocks', `${way}: no id is taken before the recipient is locked`, async () => {
        const [hub, other] = await nodes(0)
        const first = await say(hub, 'first')
        const { db } = other[inside]
        const lastId = async () =>
          (await db.all<{ id: number }>(sql`SELECT last_value AS id FROM messages_id_seq`))[0]?.id
        const waiting = () =>
          db.all(sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
        const { sent } = await db.tx(async (tx) => {
          await tx.all(sql`SELECT id FROM agents WHERE name = 'bob' FOR NO KEY UPDATE`)
          const sent = go(hub, n, first)
          await expect.poll(waiting).toHaveLength(1)
          expect(await lastId()).toBe(first)
          return { sent }
        })
        await sent
        expect(await lastId()).toBeGreaterThan(first)
      })
})
