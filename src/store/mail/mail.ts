/** Messages as mail: with subject, recipients and receipts, from the inbox of one agent, its outbox, or a thread. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { isContact } from '../contacts/contacts.ts'
import { type DeliveryKind, type Ending, readTime } from '../messages/deliveries.ts'
import { listThreadsCalled } from '../threads/mail-threads.ts'
import { type ProjectSight, seen, seenInside, sharedName, shownSubject } from '../visibility.ts'
import { fromInbox, fromOutbox, sentWithin } from './boxes.ts'

/** More bytes than any body has. */
const wholeBody = 2 ** 31 - 1

export interface MailRow {
  id: number
  /** The name of the thread: its key, else the id of its first message, once somebody has answered. */
  thread_key: string | null
  sender: string
  sender_project: number
  /** The beginning of the body, where a subject is missing. */
  subject: string
  importance: 'low' | 'normal' | 'high' | 'urgent'
  ack_required: number
  created_at: number
  /** How many woken messages in a row end with it. */
  hops: number
  /** JSON; `attachmentsOf` in attachments.ts reads it. */
  attachments: string | null
  body: string | null
}

/** `bodies` is the length of the longest body to come along: 0 for none. */
const columns = (bodies: number): Sql => sql`
  m.id, ${sharedName} AS thread_key, a.name AS sender, a.project_id AS sender_project,
  ${shownSubject} AS subject, m.importance, m.ack_required, m.created_at, m.hops, m.attachments,
  ${bodies === 0 ? sql`NULL` : sql`CASE WHEN octet_length(m.body) <= ${bodies} THEN m.body END`} AS body`

const joined = sql`JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id`

export interface InboxRow extends MailRow {
  kind: DeliveryKind
  read_at: number | null
  acked_at: number | null
  /** 1 if the sender is a contact of the recipient. */
  contact: number
  /** The role by which it came, if others of that role may have it too. */
  shared_role: string | null
  held_until: number | null
}

/** Which part of an inbox: each is read from an index of its own. */
export type InboxPart = 'all' | 'urgent' | 'urgent-unread' | 'unacked'

const parts: Readonly<Record<InboxPart, Sql>> = {
  all: empty,
  urgent: sql`AND d.urgent = 1`,
  'urgent-unread': sql`AND d.urgent = 1 AND d.read_at IS NULL`,
  unacked: sql`AND d.ack_wanted = 1 AND d.acked_at IS NULL`,
}

interface InboxQuery {
  recipientId: number
  part: InboxPart
  /** Only messages sent after this time. */
  since?: number | undefined
  /** Only messages with a higher id. */
  after?: number | undefined
  /** Only messages sent up to this time. */
  until?: number | undefined
  /** Only messages with a lower id. */
  before?: number | undefined
  /** These messages too, wherever they stand. */
  also?: readonly number[]
  oldestFirst?: boolean
  /** The length of the longest body to come along; 0 for none. */
  bodies: number
  limit: number
  /** Mail that has expired by then, unread, is in no inbox. */
  now: number
  /** Only mail that was last lent to this bearer. */
  hold?: string | undefined
}

/**
 * In the order of the ids: for one recipient, that is the order of the commits, whatever the clocks say. The deliveries
 * are found first: PostgreSQL may otherwise read all messages up to the place in step with them.
 */
export async function listInbox(db: Reader, query: InboxQuery): Promise<InboxRow[]> {
  const {
    recipientId,
    part,
    since,
    after,
    until,
    before,
    also = [],
    oldestFirst = false,
    bodies,
    limit,
    now,
    hold,
  } = query
  const wanted = sql`d.message_id, d.kind, d.read_at, d.acked_at, d.shared_role, d.held_until`
  const there = sql`
    AND d.ended IS NULL AND (d.expires_at IS NULL OR d.expires_at > ${now} OR d.read_at IS NOT NULL)
    ${hold === undefined ? empty : sql`AND d.hold = ${hold}`}`
  const range = sql`
    ${sentWithin(sql`d.sent_at`, { since, until })}
    ${after === undefined ? empty : sql`AND d.message_id > ${after}`}
    ${before === undefined ? empty : sql`AND d.message_id < ${before}`}`
  const where = sql`${parts[part]} ${there} ${also.length === 0 ? range : sql`AND ((1 = 1 ${range}) OR d.message_id IN ${listed(db, also)})`}`
  const from =
    part === 'all'
      ? fromInbox(db, wanted, { recipientId, where })
      : sql`SELECT ${wanted} FROM deliveries d WHERE d.recipient_id = ${recipientId} ${where}`
  const rows = await db.all<InboxRow>(sql`
    SELECT part.kind, part.read_at, part.acked_at, part.shared_role, part.held_until,
      ${isContact({ reader: recipientId, sender: sql`m.sender_id`, now })} AS contact,
      ${columns(bodies)}
    FROM (${from} ORDER BY message_id ${oldestFirst ? empty : sql`DESC`} LIMIT ${limit}) AS part JOIN messages m ON m.id = part.message_id ${joined}`)
  return rows.sort(oldestFirst ? (a, b) => a.id - b.id : (a, b) => b.id - a.id)
}

interface OutboxQuery {
  senderId: number
  /** Only messages sent after this time. */
  since?: number | undefined
  /** Only messages with a lower id. */
  before?: number | undefined
  /** The length of the longest body to come along; 0 for none. */
  bodies: number
  limit: number
}

/** The mail that an agent sent, newest first, without its words in topics. */
export async function listOutbox(db: Reader, query: OutboxQuery): Promise<MailRow[]> {
  const { senderId, since, before, bodies, limit } = query
  const part = sql`${fromOutbox(db, { senderId, since, below: before })} ORDER BY id DESC LIMIT ${limit}`
  const rows = await db.all<MailRow>(sql`
    SELECT ${columns(bodies)} FROM (${part}) AS part JOIN messages m ON m.id = part.id ${joined}`)
  return rows.sort((a, b) => b.id - a.id)
}

interface Looked {
  id: number
  sight: ProjectSight
  /** An agent that may see its own mail, also in blind copy. */
  recipientId?: number
}

interface SeenRow extends MailRow {
  sender_id: number
  own_subject: string | null
  /** The name of its topic, if it was said in one. */
  topic: string | null
}

/** A message that is in sight, or was sent to this agent. */
export async function findMail(db: Reader, { id, sight, recipientId = 0 }: Looked): Promise<SeenRow | undefined> {
  const [row] = await db.all<SeenRow>(sql`
    SELECT m.sender_id, m.subject AS own_subject, t.name AS topic, ${columns(wholeBody)} FROM messages m ${joined}
    WHERE m.id = ${id} AND ((${seen(sight)}) OR EXISTS (
      SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.recipient_id = ${recipientId}))`)
  return row
}

/** Bodies in the order of the ids, as long as they have at most so many bytes together. */
export function listBodies(db: Reader, ids: readonly number[], bytes: number): Promise<{ id: number; body: string }[]> {
  return db.all<{ id: number; body: string }>(sql`
    SELECT m.id, m.body FROM messages m JOIN (
      SELECT id, SUM(octet_length(body)) OVER (ORDER BY id DESC) AS total FROM messages WHERE id IN ${listed(db, ids)}
    ) AS summed ON summed.id = m.id WHERE summed.total <= ${bytes}`)
}

interface ThreadQuery {
  sight: ProjectSight
  /** The key of a thread, its uid, or the id of its first message. */
  key: string
  /** Only messages after the one with this id. */
  after: number
  /** The length of the longest body to come along; 0 for none. */
  bodies: number
  limit: number
}

/**
 * The messages that a project may see of all threads of one name, in their order. Nearly always it is one thread, and it
 * may be a topic of a million: each is read from its place on, by an index of its own.
 */
export async function listThread(db: Reader, { key, ...page }: ThreadQuery): Promise<MailRow[]> {
  const threads = await listThreadsCalled(db, page.sight.projectId, key)
  const parts: MailRow[][] = []
  for (const { id, project_id } of threads)
    parts.push(await (project_id === page.sight.projectId ? ownPart(db, id, page) : guestPart(db, id, page)))
  return parts.length === 1
    ? (parts[0] ?? [])
    : parts
        .flat()
        .sort((a, b) => a.id - b.id)
        .slice(0, page.limit)
}

type Page = Omit<ThreadQuery, 'key'>

/** Within a thread ids and `seq` are in the same order: both are taken while the thread's row is locked. */
function ownPart(db: Reader, threadId: number, { sight, after, bodies, limit }: Page): Promise<MailRow[]> {
  const place =
    after === 0
      ? sql`0`
      : sql`COALESCE((SELECT seq FROM messages WHERE id = ${after} AND thread_id = ${threadId}),
          (SELECT seq FROM messages WHERE thread_id = ${threadId} AND id <= ${after} ORDER BY seq DESC LIMIT 1), 0)`
  return db.all<MailRow>(sql`
    SELECT ${columns(bodies)} FROM messages m ${joined}
    WHERE m.thread_id = ${threadId} AND m.seq > ${place} ${seenInside(sight)} ORDER BY m.seq LIMIT ${limit}`)
}

function guestPart(db: Reader, threadId: number, { sight, after, bodies, limit }: Page): Promise<MailRow[]> {
  return db.all<MailRow>(sql`
    SELECT ${columns(bodies)} FROM message_guests g JOIN messages m ON m.id = g.message_id ${joined}
    WHERE g.project_id = ${sight.projectId} AND g.thread_id = ${threadId} AND g.message_id > ${after} ${seenInside(sight)}
    ORDER BY g.message_id LIMIT ${limit}`)
}

interface SentRow {
  /** The sender's own id; the uid where it gave none. */
  name: string
  uid: string
  thread_uid: string
  thread_id: number
  seq: number
  subject: string | null
  thread_key: string | null
  created_at: number
  attachments: string | null
}

/** A message as its sender is told of it. */
export async function findSent(db: Reader, id: number): Promise<SentRow> {
  const [row] = await db.all<SentRow>(sql`
    SELECT COALESCE(m.client_id, m.uid) AS name, m.uid, t.uid AS thread_uid, m.thread_id, m.seq, m.subject, ${sharedName} AS thread_key, m.created_at, m.attachments
    FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id = ${id}`)
  return row as SentRow
}

export interface RecipientOfRow {
  message_id: number
  id: number
  name: string
  project_id: number
  kind: DeliveryKind
  read_at: number | null
  acked_at: number | null
  ended: Ending | null
}

/** The recipients of messages, in the order in which they were named; blind copies only where they may be seen. */
export function listRecipientsOf(
  db: Reader,
  ids: readonly number[],
  { blind }: { blind: boolean },
): Promise<RecipientOfRow[]> {
  return db.all<RecipientOfRow>(sql`
    SELECT d.message_id, a.id, a.name, a.project_id, d.kind, ${readTime} AS read_at, d.acked_at, d.ended
    FROM deliveries d JOIN agents a ON a.id = d.recipient_id
    WHERE d.message_id IN ${listed(db, ids)} ${blind ? empty : sql`AND d.kind <> 'bcc'`} ORDER BY d.id`)
}
