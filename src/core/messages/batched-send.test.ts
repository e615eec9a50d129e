/** Messages that are stored together: each has its own place and its own outcome, as if it had been sent alone. */
import { setTimeout as sleep } from 'node:timers/promises'
import sql, { type Sql } from 'sql-template-tag'
import { expect, onTestFinished, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { openLine } from '../../../test/support/line.ts'
import { drawing, uriOf } from '../../../test/support/pictures.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { HubError } from '../../base/errors.ts'
import { openDb } from '../../db/open.ts'
import type { Db } from '../../db/port.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { ensureProject } from '../projects/projects.ts'
import { type Draft, send } from './send.ts'

const names = Array.from({ length: 6 }, (_, n) => `agent${n}`)

const make = (hub: Hub, name: string) => ensureAgent(hub, local, { project: 'commons', name })

const openTo = (db: Db, name: string, policy: string) =>
  db.tx((tx) => tx.change(sql`UPDATE agents SET contact_policy = ${policy} WHERE name_key = ${name}`))

const bodiesOf = async (db: Db) =>
  (await db.all<{ body: string }>(sql`SELECT body FROM messages ORDER BY id`)).map(({ body }) => body)

eachEngine('Messages that are stored together', (open, dialect) => {
  verifies(
    'serve.store.batches',
    'at two nodes, to one and to many, while mail is taken: all is counted once',
    async () => {
      const database = await open()
      const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
      for (const name of names) await make(hubs[0], name)
      const db = await database.connect()
      for (const name of names) await openTo(db, name, 'open')
      const sends = Array.from({ length: 120 }, async (_, n) => {
        const from = n % names.length
        const to = names.filter((_, at) => at !== from && (n % 3 === 0 || at === (from + 1 + (n % 4)) % names.length))
        const body = `number ${n}`
        const sent = await send(hubs[n % 2 === 0 ? 0 : 1], as(names[from] ?? ''), {
          to: to.map((name) => ({ name })),
          body,
        })
        expect(sent.deliveries.map(({ agent }) => agent.name)).toEqual(to)
        return { uid: sent.uid, body, id: sent.messageId, thread_id: sent.threadId, seq: sent.seq }
      })
      const takes = sends.slice(0, 40).map(async (sending, n) => {
        await sending
        return take(hubs[n % 2 === 0 ? 0 : 1], as(names[n % names.length] ?? ''), now)
      })
      const [sent, taken] = [await Promise.all(sends), await Promise.all(takes)]
      const mail = taken.flatMap((one) => (one === undefined ? [] : [`${one.mail.clientId} ${one.mail.body}`]))
      expect(mail.length).toBeGreaterThan(0)
      const popped = await db.all<{ uid: string; body: string }>(
        sql`SELECT uid, body FROM deliveries d JOIN messages m ON m.id = d.message_id WHERE read_at IS NOT NULL`,
      )
      expect(popped.map(({ uid, body }) => `${uid} ${body}`).toSorted()).toEqual(mail.toSorted())
      const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
      expect(await db.all(sql`SELECT uid, body, id, thread_id, seq FROM messages ORDER BY id`)).toEqual(
        sent.toSorted(byId),
      )
      expect(new Set(sent.map(({ thread_id }) => thread_id)).size).toBe(sent.length)
      expect(
        await db.all(sql`
        SELECT name FROM agents a
        WHERE unread <> (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = a.id AND read_at IS NULL)`),
      ).toEqual([])
      const told = await db.all<{ message_id: number }>(
        sql`SELECT message_id FROM changes WHERE kind = 'message.sent' ORDER BY message_id`,
      )
      expect(told.map(({ message_id }) => message_id)).toEqual(sent.map(({ id }) => id).toSorted((a, b) => a - b))
    },
  )

  verifies('serve.store.batches', 'one that is refused, or cannot be stored, is so alone', async () => {
    const database = await open()
    const hub = await openTestHub(await database.connect(), { mailboxDepth: 5 })
    for (const name of names) await make(hub, name)
    const db = await database.connect()
    for (const name of names) await openTo(db, name, name === 'agent1' ? 'block_all' : 'open')
    const write = (to: string, body: string) => send(hub, as('agent0'), { to: [{ name: to }], body, handshake: false })
    const unstorable = dialect === 'postgres' ? 'not\0text' : 'text'
    const outcomes = await Promise.allSettled([
      write('agent2', 'one'),
      write('agent1', 'blocked'),
      write('agent3', unstorable),
      ...Array.from({ length: 8 }, () => write('agent4', 'many')),
      write('agent2', 'two'),
    ])
    const codes = outcomes.map((one) =>
      one.status === 'fulfilled' ? 'stored' : one.reason instanceof HubError ? one.reason.code : 'failed',
    )
    expect(codes.slice(0, 2)).toEqual(['stored', 'CONTACT_BLOCKED'])
    expect(codes[2]).toBe(dialect === 'postgres' ? 'failed' : 'stored')
    expect(codes.slice(3, -1).toSorted()).toEqual([...Array(3).fill('MAILBOX_FULL'), ...Array(5).fill('stored')])
    expect(codes.at(-1)).toBe('stored')
    expect((await bodiesOf(db)).filter((body) => body !== unstorable).toSorted()).toEqual(
      [...Array(5).fill('many'), 'one', 'two'].toSorted(),
    )
  })

  verifies('serve.store.batches', 'whatever they have is stored with them, and retries store nothing', async () => {
    const database = await open()
    const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
    const [hub] = hubs
    for (const name of names) await make(hub, name)
    const { slug } = await ensureProject(hub, local, '/elsewhere')
    await ensureAgent(hub, local, { project: slug, name: 'guest' })
    const db = await database.connect()
    for (const name of [...names, 'guest']) await openTo(db, name, 'open')
    const begun = await send(hub, as('agent0'), { to: [{ name: 'agent1' }], body: 'begun' })
    const image = uriOf('image/png', await drawing(8, 8).png().toBuffer())
    const drafts = (n: number): Draft[] => {
      const to = [{ name: `agent${1 + (n % 5)}` }]
      return [
        { to, body: `named ${n}`, thread: 'TICKET-1', clientId: `named-${n}` },
        { to, body: `reply ${n}`, replyTo: begun.messageId, subject: 'Half \ud800 of a pair' },
        { to, body: `linked ${n}`, links: ['https://example.com/a', 'https://example.com/b'] },
        {
          to: [
            { name: 'guest', project: slug },
            { name: 'agent1', kind: 'cc' },
          ],
          body: `guest ${n}`,
        },
        { to, body: `pictured ${n}\n\n![x](${image})`, enclosing: {}, importance: 'high', ackRequired: true },
        { to, body: `other words ${n}`, clientId: 'same', mayAnswer: true },
      ]
    }
    const all = Array.from({ length: 8 }, (_, n) => drafts(n)).flat()
    // Twice at once, at both nodes: only ids of the client's own make the second a retry.
    const sent = await Promise.all(
      all.flatMap((draft, n) => {
        const from = as('agent0')
        return draft.clientId === undefined
          ? [send(hubs[n % 2 === 0 ? 0 : 1], from, draft)]
          : hubs.map((hub) => send(hub, from, draft))
      }),
    )
    const count = async (table: Sql) => (await db.all<{ n: number }>(sql`SELECT COUNT(*) AS n FROM ${table}`))[0]?.n
    expect(await count(sql`messages`)).toBe(1 + all.length)
    expect(sent.filter(({ duplicate }) => duplicate)).toHaveLength(16)
    expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(all.length)
    const seqs = await db.all<{ seq: number }>(sql`
      SELECT m.seq FROM messages m JOIN threads t ON t.id = m.thread_id WHERE t.key = 'TICKET-1' ORDER BY m.seq`)
    expect(seqs.map(({ seq }) => seq)).toEqual(Array.from({ length: 8 }, (_, n) => n + 1))
    expect(
      await db.all(sql`SELECT DISTINCT thread_id, subject FROM messages WHERE reply_to = ${begun.messageId}`),
    ).toEqual([{ thread_id: begun.threadId, subject: 'Half \ufffd of a pair' }])
    for (const [table, rows] of [
      [sql`message_guests`, 8],
      [sql`inline_images`, 8],
      [sql`attachment_carriers`, 8],
      [sql`messages WHERE attachments LIKE '%example.com/b%'`, 8],
      [sql`deliveries WHERE urgent = 1 AND ack_wanted = 1`, 8],
      [sql`deliveries WHERE kind = 'cc'`, 8],
      // The first words to each of five agents, and those that came later.
      [sql`client_ids WHERE client_id = 'same'`, 5],
      [sql`repeated_ids`, 3],
      [sql`changes WHERE kind = 'message.sent'`, 1 + all.length],
    ] as const)
      expect(await count(table), table.sql).toBe(rows)
    expect(
      await db.all(sql`
        SELECT name FROM agents a
        WHERE unread <> (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = a.id AND read_at IS NULL)`),
    ).toEqual([])
  })

  if (dialect === 'postgres') {
    verifies('serve.store.faults', 'agents whose rows others hold keep up nobody else', async () => {
      const database = await open()
      const hub = await openTestHub(await database.connect())
      for (const name of names) await make(hub, name)
      const db = await database.connect()
      for (const name of names) await openTo(db, name, 'open')
      const gate = Promise.withResolvers<void>()
      const locked = Promise.withResolvers<void>()
      const holding = db.tx(async (tx) => {
        await tx.all(sql`SELECT 1 FROM agents WHERE name_key IN ('agent1', 'agent2') ORDER BY id FOR UPDATE`)
        locked.resolve()
        await gate.promise
      })
      await locked.promise
      const write = (to: string, body: string) => send(hub, as('agent0'), { to: [{ name: to }], body })
      let through = false
      // Each alone, and both of the statements that may be under way.
      const held = [write('agent1', 'held'), write('agent2', 'held')]
      void Promise.race(held).then(() => {
        through = true
      })
      const takes: Promise<unknown>[] = []
      for (let round = 0; round < 5; round++) {
        await Promise.all([3, 4, 5].map((n) => write(`agent${n}`, 'free')))
        held.push(write('agent1', 'held'), write('agent2', 'held'))
        takes.push(take(hub, as('agent3'), now))
        await Promise.all(takes)
        await sleep(20)
      }
      expect(through).toBe(false)
      expect(await bodiesOf(db)).toEqual(Array(15).fill('free'))
      gate.resolve()
      await Promise.all([holding, ...held])
      expect(await bodiesOf(db)).toEqual([...Array(15).fill('free'), ...Array(12).fill('held')])
    })

    test('a long text goes by itself, and those behind it do not wait for it', async () => {
      const database = await open()
      const hub = await openTestHub(await database.connect())
      for (const name of names) await make(hub, name)
      const db = await database.connect()
      for (const name of names) await openTo(db, name, 'open')
      const long = '\u0001'.repeat(1 << 20)
      const done: string[] = []
      const write = async (to: string, body: string) => {
        await send(hub, as('agent0'), { to: [{ name: to }], body })
        done.push(body === long ? 'long' : body)
      }
      const longs = Array.from({ length: 12 }, (_, n) => write(`agent${1 + (n % 4)}`, long))
      await write('agent5', 'short')
      expect(done).not.toHaveLength(13)
      await Promise.all(longs)
      expect(done.toSorted()).toEqual([...Array(12).fill('long'), 'short'])
      expect(await bodiesOf(db)).toHaveLength(13)
    })

    test('many who take from one mailbox get each message once', async () => {
      const database = await open()
      const hub = await openTestHub(await database.connect())
      for (const name of names) await make(hub, name)
      const sending = Array.from({ length: 30 }, (_, n) =>
        send(hub, as('agent0'), { to: [{ name: 'agent1' }], body: `number ${n}` }),
      )
      await Promise.all(sending)
      const bodies: string[] = []
      for (let round = 0; round < 30 && bodies.length < 30; round++) {
        const taken = await Promise.all(Array.from({ length: 8 }, () => take(hub, as('agent1'), now)))
        for (const one of taken) if (one !== undefined) bodies.push(one.mail.body)
      }
      expect(bodies.toSorted()).toEqual(Array.from({ length: 30 }, (_, n) => `number ${n}`).toSorted())
    })

    test('those that are lost with their connection are told so, and are not sent again', async () => {
      const database = await open()
      const line = await openLine(database.url, (work) => onTestFinished(async () => void (await work())))
      const through = await openDb(line.url)
      const hub = await openTestHub(through)
      for (const name of names) await make(hub, name)
      const db = await database.connect()
      for (const name of names) await openTo(db, name, 'open')
      const write = (n: number) =>
        send(hub, as('agent0'), { to: [{ name: `agent${1 + (n % 5)}` }], body: `number ${n}` })
      await Promise.all(Array.from({ length: 10 }, (_, n) => write(n)))
      const sends = Array.from({ length: 30 }, (_, n) => write(10 + n))
      await sleep(3)
      line.cut()
      const outcomes = await Promise.allSettled(sends)
      await through.close()
      const stored = await bodiesOf(db)
      expect(new Set(stored).size).toBe(stored.length)
      for (const [n, outcome] of outcomes.entries())
        if (outcome.status === 'fulfilled') expect(stored).toContain(`number ${10 + n}`)
        else expect(outcome.reason).toMatchObject({ code: 'DB_BUSY' })
    })
  }
})
