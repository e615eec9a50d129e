/** How the engines read the lists of the pages: by an index, from the place that is asked for. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { plansOf } from '../../../test/support/plans.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { agentCaller, local, tokenCaller } from '../../core/access/callers.ts'
import { pageSight } from '../../core/access/rules.ts'
import type { Db, Reader } from '../../db/port.ts'
import { listUnreadNamed } from '../agents/agents.ts'
import { listPendingContacts } from '../contacts/contacts.ts'
import { fileDeliveries, fileMessages, listLast } from '../mail/boxes.ts'
import { findReach, listTops } from '../mail/conversation-lists.ts'
import { listInbox, listOutbox } from '../mail/mail.ts'
import { listPausedPairs } from '../messages/loops.ts'
import { listFitting } from '../search/fitting.ts'
import { listEdges, listLanes, listSlots } from './activity.ts'
import { listHolding, listOpenQuestions } from './board.ts'
import { countLate, type LateView, listLate } from './late-mail.ts'
import { listMailIds, type MailFilter } from './message-lists.ts'
import { listPageMessageRows, listPageRecipientRows } from './page-messages.ts'
import { findFloor, listMarks, listNew } from './people.ts'
import type { SearchFilter } from './search-filters.ts'
import { listParticipants, listThreadIds } from './threads.ts'

const many = 6000

/** Nine projects of a hundred agents each; nearly everything is read, little is urgent. The last two projects are silent. */
async function fill(db: Db): Promise<void> {
  const numbers = (count: number) =>
    sql`(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n) AS numbers`
  await db.tx(async (tx) => {
    await tx.all(
      sql`INSERT INTO projects (id, slug, human_key, created_at) SELECT 10 + i, 'p' || i, 'p' || i, 0 FROM ${numbers(9)}`,
    )
    await tx.all(sql`
      INSERT INTO agents (id, project_id, name, name_key, created_at)
      SELECT i, 10 + (i - 1) / 100 + 1, 'a' || i, 'a' || i, 0 FROM ${numbers(900)}`)
    await tx.all(sql`
      INSERT INTO threads (id, uid, project_id, next_seq, created_at)
      SELECT i, 'uid' || i, 10 + (i % 7) + 1, 11, 0 FROM ${numbers(many / 10)}`)
    await tx.all(sql`
      INSERT INTO messages (id, uid, thread_id, seq, sender_id, body, importance, created_at)
      SELECT i, 'm' || i, 1 + (i - 1) / 10, 1 + (i - 1) % 10, 1 + i % 900, 'text',
        CASE WHEN i % 500 = 0 THEN 'urgent' ELSE 'normal' END, i FROM ${numbers(many)}`)
    await tx.all(sql`UPDATE messages SET kind = 'question' WHERE id % 1000 = 0`)
    await tx.all(sql`
      INSERT INTO deliveries (id, message_id, recipient_id, sent_at, urgent, ack_wanted, read_at)
      SELECT i, i, 1 + (i * 7) % 900, i, CASE WHEN i % 500 = 0 THEN 1 ELSE 0 END, CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END,
        CASE WHEN i % 50 = 0 THEN NULL ELSE i END FROM ${numbers(many)}`)
    await tx.all(sql`
      UPDATE agents SET unread = (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = agents.id AND d.read_at IS NULL)`)
    await tx.all(sql`
      INSERT INTO leases (project_id, agent_id, pattern, prefix, exclusive, reason, created_at, expires_at, released_at)
      SELECT 11, 1 + i % 100, 'p' || i, 'p' || i, 1, '', i, i, CASE WHEN i % 500 = 0 THEN NULL ELSE i END FROM ${numbers(many)}`)
    await tx.all(sql`
      INSERT INTO loop_pairs (low_id, high_id, since, woken, paused_at)
      SELECT 1 + i % 30, 100 + i / 30, i, 1, CASE WHEN i % 500 = 0 THEN i END FROM ${numbers(many)}`)
    await tx.all(sql`
      INSERT INTO activity (project_id, grain, kind, slot, from_id, to_id, count)
      SELECT 11, 3600000, i % 3, CAST(i AS BIGINT) * 3600000, i % 100, i % 99, 1 FROM ${numbers(many)}`)
  })
  if (db.dialect === 'postgres') await db.all(sql`ANALYZE`)
  else for (const file of [fileDeliveries, fileMessages]) await db.tx((tx) => file(tx, many))
}

/** With this PostgreSQL reads a table whole only where it must. */
const without = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'] as const

/** Small tables may be gone through; of the others no more than the rows of an index that are asked for. */
const scans =
  /Seq Scan on (?!agents|projects)\w+|SCAN (?!\(|value|json_each|outbox_filed|found|first|got|gave|box|own|part|numbers|before|after|parts|p\b|e\b|few|near|CONSTANT|m$)\w+( USING INTEGER PRIMARY KEY)?$/m

eachEngine('Plans of the pages', (open) => {
  verifies('web.reads.bounded', 'lists are read by an index, from their place on', async () => {
    const db = await (await open({ fresh: true })).connect()
    await fill(db)
    const people = pageSight(local)
    const readers = pageSight(tokenCaller('token:r', false))
    const agent = pageSight(agentCaller({ id: 5, projectId: 11 }))
    const mail = (filter: Partial<MailFilter>) => (reader: Reader) =>
      listMailIds(reader, people, { limit: 51, ...filter })
    const fitting = (filter: SearchFilter) => (reader: Reader) =>
      listFitting(reader, { pages: people, projectId: undefined, filter, listing: true }, 100)
    const late = (view: LateView, projectId?: number) => (reader: Reader) =>
      listLate(reader, { view, projectId, sight: readers, sentBefore: 10_000, limit: 51 })
    const boxed = /project_box|b USING PRIMARY KEY \(project_id=\? AND message_id>\? AND message_id<\?\)/
    const counted = /activity_pkey|PRIMARY KEY \(project_id=\? AND grain=\? AND kind=\? AND slot>\?\)/
    const ownOutbox = /messages_sender|outbox USING PRIMARY KEY \(sender_id=\? AND message_id>\? AND message_id<\?\)/
    const ownInbox = /deliveries_inbox/
    const page = { bodies: 0, limit: 20 }
    const asked: Record<string, [RegExp, (reader: Reader) => Promise<unknown>]> = {
      all: [/messages_pkey|SCAN m$/m, mail({})],
      'from a place': [/messages_pkey|INTEGER PRIMARY KEY \(rowid<\?\)/, mail({ below: 900 })],
      project: [boxed, mail({ projectId: 12, below: 9000 })],
      'a silent project': [boxed, mail({ projectId: 19 })],
      sender: [/project_box_sender/, mail({ senderIds: [5, 105] })],
      importance: [/messages_importance/, mail({ importance: 'urgent' })],
      unread: [/deliveries_unread_anywhere/, mail({ unread: true, below: 900 })],
      'unread in a project': [/deliveries_unread/, mail({ unread: true, projectId: 12 })],
      'importance in a project': [/project_box_importance/, mail({ projectId: 19, importance: 'urgent' })],
      attachments: [/messages_attached/, mail({ attached: true, projectId: 12 })],
      'of an agent': [
        /deliveries_inbox|deliveries_message_id_recipient_id_key/,
        (reader) => listMailIds(reader, agent, { limit: 51 }),
      ],
      threads: [/thread_box_last/, (reader) => listLast(reader, { limit: 51 })],
      'threads of a project': [
        /thread_box_project/,
        (reader) => listLast(reader, { projectId: 19, below: 5000, limit: 51 }),
      ],
      'a thread': [
        /messages_2|messages_thread_id_seq_key/,
        (reader) => listThreadIds(reader, { threadId: 3, before: 25, limit: 51 }),
      ],
      participants: [
        /messages_2|messages_thread_id_seq_key/,
        (reader) => listParticipants(reader, [1, 2, 3], { newest: 20, sight: readers }),
      ],
      messages: [
        /messages_pkey|INTEGER PRIMARY KEY/,
        (reader) => listPageMessageRows(reader, [1, 2, 3], { sight: agent, length: 10 }),
      ],
      recipients: [
        /deliveries_1|deliveries_message_id_recipient_id_key/,
        (reader) => listPageRecipientRows(reader, [1, 2, 3], readers),
      ],
      'late unread': [/deliveries_unread_anywhere/, late('unread')],
      'late urgent': [/deliveries_urgent_anywhere/, late('urgent')],
      'late acknowledgements': [/deliveries_unacked_anywhere/, late('ack-overdue')],
      'late in a project': [/deliveries_un/, late('unread', 12)],
      'late, counted': [
        /deliveries_unread_anywhere/,
        (reader) => countLate(reader, { view: 'unread', sight: readers, sentBefore: 10_000, most: 100 }),
      ],
      outbox: [ownOutbox, (reader) => listOutbox(reader, { senderId: 5, ...page })],
      'outbox since': [ownOutbox, (reader) => listOutbox(reader, { senderId: 5, since: 10, ...page })],
      'inbox since': [
        ownInbox,
        (reader) =>
          listInbox(reader, { recipientId: 5, part: 'all', since: 10, after: 1, before: 900, now: 0, ...page }),
      ],
      'reach of conversations': [ownOutbox, (reader) => findReach(reader, { agentId: 5, below: 900 })],
      'conversations by subject': [
        ownInbox,
        (reader) => listTops(reader, { agentId: 5, below: 900, from: 0, limit: 50 }),
      ],
      'open questions': [
        /messages_questions/,
        (reader) => listOpenQuestions(reader, { projectId: 12, sent: { after: 10, before: 5000 }, limit: 20 }),
      ],
      'requests for contact': [
        /contacts_pending/,
        (reader) => listPendingContacts(reader, { projectId: undefined, agentId: undefined, limit: 50 }),
      ],
      'leases that hold': [
        /SEARCH l USING INDEX leases_held|leases_due|leases_active|leases_ending/,
        (reader) => listHolding(reader, { projectId: undefined }, { now: 0, limit: 50 }),
      ],
      'paused pairs': [/loop_pairs_paused/, listPausedPairs],
      'mail to people': [
        /agents_project_id_name_key_key|sqlite_autoindex_agents_1/,
        (reader) => listUnreadNamed(reader, 'humanoverseer'),
      ],
      bars: [counted, (reader) => listSlots(reader, { projectId: 11, grain: 3_600_000, since: 100 })],
      lanes: [counted, (reader) => listLanes(reader, { projectId: 11, grain: 3_600_000, since: 1e13 })],
      'new to a person': [
        /messages_pkey|INTEGER PRIMARY KEY \(rowid>\?\)/,
        (reader) => listNew(reader, { person: 'name:ann', nameKey: 'ann', floor: 100, sight: readers, most: 1000 }),
      ],
      'marks of a person': [/people_pkey|sqlite_autoindex_people_1/, (reader) => listMarks(reader, 'name:ann')],
      'first visit': [/messages_pkey|INTEGER PRIMARY KEY/, (reader) => findFloor(reader, 100)],
      'filters alone: to an agent': [
        /deliveries_inbox|deliveries_message_id_recipient_id_key/,
        fitting([{ by: 'recipient', ids: [5] }]),
      ],
      'filters alone: unread by an agent': [/deliveries_unread/, fitting([{ by: 'unread', of: 5 }])],
      'filters alone: unacknowledged': [/deliveries_unacked_anywhere/, fitting([{ by: 'unacked' }])],
      'filters alone: sealed': [/messages_pkey|INTEGER PRIMARY KEY/, fitting([{ by: 'sealed' }])],
      edges: [counted, (reader) => listEdges(reader, { projectId: 11, grain: 3_600_000, since: 1e13 }, 100)],
    }
    const found: Record<string, string> = {}
    for (const [name, [index, ask]] of Object.entries(asked)) {
      for (const plan of await plansOf(db, ask, { without }))
        if (!index.test(plan) || scans.test(plan)) found[name] = plan
    }
    expect(found).toEqual({})
  })
})
