/** How the engines read mail: what is asked with a request is found by an index, however much there is beside it. */
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../test/support/engines.ts'
import { plansOf } from '../../test/support/plans.ts'
import { verifies } from '../../test/support/verifies.ts'
import { local } from '../core/access/callers.ts'
import { sightOf } from '../core/access/rules.ts'
import type { Db, Reader } from '../db/port.ts'
import { listRecentPartners } from './contacts/grounds.ts'
import { listExpiring, listLeases, listNearby } from './leases.ts'
import { fileDeliveries, fileMessages } from './mail/boxes.ts'
import { type InboxPart, listInbox, listOutbox, listThread } from './mail/mail.ts'
import { countSent } from './mail/mail-totals.ts'
import { listReadTimes } from './messages/reach.ts'
import { listThreadStates, listTold } from './threads/summaries.ts'

const many = 20_000

/** Ann writes everything, Bob gets everything and has read it; one project sees all of it, another some. All leases are past. */
async function fill(db: Db): Promise<void> {
  const numbers = sql`(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many}) SELECT i FROM n) AS numbers`
  await db.tx(async (tx) => {
    await tx.all(
      sql`INSERT INTO projects (id, slug, human_key, created_at) VALUES (7, 'own', 'own', 0), (8, 'guest', 'guest', 0), (9, 'all', 'all', 0)`,
    )
    for (const [id, name] of [
      [1, 'ann'],
      [2, 'bob'],
    ] as const)
      await tx.all(
        sql`INSERT INTO agents (id, project_id, name, name_key, created_at) VALUES (${id}, 7, ${name}, ${name}, 0)`,
      )
    await tx.all(
      sql`INSERT INTO threads (id, uid, project_id, next_seq, created_at, key) VALUES (1, 'one', 7, ${many + 1}, 0, 'T-1')`,
    )
    await tx.all(sql`
      INSERT INTO threads (id, uid, project_id, next_seq, created_at, key)
      SELECT i + 1, 'uid' || i, 7, 2, 0, 'K-' || i FROM ${numbers}`)
    await tx.all(sql`
      INSERT INTO messages (id, uid, thread_id, seq, sender_id, body, created_at)
      SELECT i, 'm' || i, CASE WHEN i % 2 = 0 THEN 1 ELSE i + 1 END, CASE WHEN i % 2 = 0 THEN i ELSE 1 END, 1, 'text', i FROM ${numbers}`)
    await tx.all(sql`
      INSERT INTO deliveries (id, message_id, recipient_id, sent_at, urgent, read_at)
      SELECT i, i, 2, i, i % 2, CASE WHEN i % 1000 = 1 THEN NULL ELSE i END FROM ${numbers}`)
    await tx.all(sql`
      INSERT INTO message_guests (project_id, thread_id, message_id) SELECT 9, thread_id, id FROM messages
      UNION ALL SELECT 8, thread_id, id FROM messages WHERE id % 100 < 2`)
    await tx.all(sql`
      INSERT INTO leases (project_id, agent_id, pattern, prefix, exclusive, reason, created_at, expires_at, released_at)
      SELECT 7, 1, 'f' || i, 'f' || i, 1, '', 0, i, CASE WHEN i % 100 = 0 THEN NULL ELSE i END FROM ${numbers}`)
  })
  if (db.dialect === 'postgres') await db.all(sql`ANALYZE`)
  else for (const file of [fileDeliveries, fileMessages]) await db.tx((tx) => file(tx, many))
}

/** From a place on. Where all mail is one agent's, PostgreSQL takes the index that is unique. */
const inboxFrom = (sign: '>' | '<') =>
  new RegExp(
    `deliveries_inbox \\(recipient_id=\\? AND message_id${sign}\\?\\)|deliveries_(inbox|message_id_recipient_id_key) on deliveries d .*\n.*message_id ${sign}`,
  )

/** From one place on. On SQLite, what is not filed yet is read from the last message that is. As above, all mail is one agent's. */
const outboxPlace =
  /outbox USING PRIMARY KEY \(sender_id=\? AND message_id>\? AND message_id<\?\)[\s\S]*messages USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)|messages_(?:sender|pkey) on messages .*\n.*id > .*id </

eachEngine('Plans', (open, dialect) => {
  verifies('mail.reads.bounded', 'what a request asks for is found by an index', async () => {
    const db = await (await open({ fresh: true })).connect()
    await fill(db)
    const page = { bodies: 0, limit: 20, now: 0 }
    const sight = sightOf(local, 8)
    const inbox = (part: InboxPart) => (reader: Reader) => listInbox(reader, { recipientId: 2, part, ...page })
    const guests = /message_guests_(?:1|pkey)/
    const asked: [RegExp, (reader: Reader) => Promise<unknown>][] = [
      [
        inboxFrom('>'),
        (reader) => listInbox(reader, { recipientId: 2, part: 'all', after: 100, oldestFirst: true, ...page }),
      ],
      [inboxFrom('<'), (reader) => listInbox(reader, { recipientId: 2, part: 'all', before: 900, ...page })],
      [inboxFrom('<'), (reader) => listReadTimes(reader, 2, 10)],
      [/deliveries_urgent\b/, inbox('urgent')],
      [/deliveries_urgent_unread/, inbox('urgent-unread')],
      [outboxPlace, (reader) => listOutbox(reader, { senderId: 1, ...page })],
      [outboxPlace, (reader) => listOutbox(reader, { senderId: 1, since: 100, before: 1000, ...page })],
      [
        /leases_active|Index Scan using leases_due/,
        (reader) => listLeases(reader, { projectId: 7, activeAt: 100, before: undefined, limit: 20 }),
      ],
      [
        /leases_ending|Index Scan using leases_due/,
        (reader) => listExpiring(reader, { projectId: 7, now: 100, until: 9000, limit: 20 }),
      ],
      [guests, (reader) => listThreadStates(reader, sight, 'T-1')],
      [guests, (reader) => listTold(reader, { threadId: 1, sight, guest: true, before: 900, length: 10, limit: 20 })],
      [guests, (reader) => listThread(reader, { sight, key: 'T-1', after: 50, ...page })],
      [outboxPlace, (reader) => countSent(reader, { senderId: 1, after: 0, time: 50, most: 100 })],
    ]
    for (const [index, ask] of asked)
      for (const plan of await plansOf(db, ask)) {
        expect(plan).toMatch(index)
        // One row says how far outboxes are filed. Whether anybody has a key is the first entry of an index that holds nobody else.
        expect(plan).not.toMatch(
          /Seq Scan on (?!agents|projects|contacts)|SCAN (?!part|outbox_filed|k USING COVERING INDEX agents_keyed)/,
        )
        // The index has the order, too.
        if (index.source.includes('deliveries_inbox')) expect(plan).not.toMatch(/\bSort\b|TEMP B-TREE/)
      }
  })

  verifies('mail.reads.bounded', 'whether senders are contacts of the reader is found by its own', async () => {
    const db = await (await open({ fresh: true })).connect()
    const few = (name: string) =>
      sql`(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) SELECT i FROM n) AS ${raw(name)}`
    await db.tx(async (tx) => {
      await tx.all(sql`INSERT INTO projects (id, slug, human_key, created_at) VALUES (7, 'own', 'own', 0)`)
      await tx.all(sql`
        INSERT INTO agents (id, project_id, name, name_key, created_at) SELECT i, 7, 'a' || i, 'a' || i, 0 FROM ${few('a')}`)
      await tx.all(sql`
        INSERT INTO contacts (from_id, to_id, status, reason, created_at, updated_at)
        SELECT a.i, b.i, 'approved', '', 0, 0 FROM ${few('a')}, ${few('b')} WHERE a.i <> b.i`)
    })
    if (dialect === 'postgres') await db.all(sql`ANALYZE`)
    for (const plan of await plansOf(db, (reader) =>
      listInbox(reader, { recipientId: 2, part: 'all', bodies: 0, limit: 20, now: 0 }),
    )) {
      expect(plan).toMatch(/contacts_to\b/)
      expect(plan).toMatch(/contacts_from_id_to_id_key|sqlite_autoindex_contacts_1/)
    }
  })

  if (dialect === 'sqlite')
    verifies('mail.reads.bounded', 'leases that may overlap a pattern are found by its prefix', async () => {
      const db = await (await open({ fresh: true })).connect()
      await fill(db)
      const near = { projectId: 7, agentId: 2, exclusiveOnly: false, now: 100, after: undefined, limit: 20 }
      for (const prefix of [{ below: 'f1' }, ['', 'f1']])
        expect((await plansOf(db, (reader) => listNearby(reader, { ...near, prefix })))[0]).toMatch(
          /leases_open \(project_id=\? AND prefix/,
        )
    })

  if (dialect === 'sqlite')
    verifies(
      'mail.reads.bounded',
      'recent contact is looked up message by message, not in all mail of the other',
      async () => {
        const db = await (await open({ fresh: true })).connect()
        await fill(db)
        const [plan] = await plansOf(db, (reader) => listRecentPartners(reader, { senderId: 1, ids: [2], since: 0 }))
        expect(plan?.match(/SEARCH .*/g)).toEqual([
          'SEARCH outbox USING PRIMARY KEY (sender_id=? AND message_id>? AND message_id<?)',
          'SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
          'SEARCH m USING INTEGER PRIMARY KEY (rowid=?)',
          'SEARCH d USING COVERING INDEX sqlite_autoindex_deliveries_1 (message_id=?)',
          'SEARCH d USING COVERING INDEX deliveries_inbox (recipient_id=?)',
          'SEARCH d USING INDEX deliveries_unfiled (recipient_id=?)',
          'SEARCH m USING INTEGER PRIMARY KEY (rowid=?)',
        ])
      },
    )
})
