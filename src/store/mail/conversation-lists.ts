/** Lists of conversations: the threads of an agent by their newest message, what is unread in each, and their last messages. */
import sql, { type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { isContact } from '../contacts/contacts.ts'
import { fromInbox, fromOutbox, fromUnread } from './boxes.ts'
import { automaticKind, partOf, subjectFor } from './conversations.ts'

/** How many messages received, and how many sent, one list is made from: it costs the same however much mail there is. */
const lookedThrough = 10_000

interface Bounds {
  agentId: number
  /** Only messages with a lower id. */
  below: number
}

/** The lowest message id down to which all mail of an agent is among the newest; 0 if that is all of it. */
export async function findReach(db: Reader, { agentId, below }: Bounds): Promise<number> {
  const where = sql`AND d.message_id < ${below}`
  const last = sql`DESC LIMIT 1 OFFSET ${lookedThrough - 1}`
  const [row] = await db.all<{ received: number | null; sent: number | null }>(sql`
    SELECT (${fromInbox(db, sql`d.message_id`, { recipientId: agentId, where })} ORDER BY message_id ${last}) AS received,
      (SELECT id FROM (${fromOutbox(db, { senderId: agentId, below })} ORDER BY id ${last}) AS first) AS sent`)
  return Math.max(row?.received ?? 0, row?.sent ?? 0)
}

export interface TopRow {
  thread_id: number
  /** The id of its newest message. */
  top: number
}

/** The threads of mail of an agent with messages between the bounds, by the newest of those. */
export function listTops(
  db: Reader,
  { agentId, below, from, limit }: Bounds & { from: number; limit: number },
): Promise<TopRow[]> {
  const where = sql`AND d.message_id >= ${from} AND d.message_id < ${below}`
  return db.all<TopRow>(sql`
    SELECT m.thread_id, MAX(m.id) AS top FROM (
      SELECT message_id AS id FROM (${fromInbox(db, sql`d.message_id`, { recipientId: agentId, where })}) AS received
      UNION ALL SELECT id FROM (${fromOutbox(db, { senderId: agentId, above: from - 1, below })}) AS sent
    ) AS own JOIN messages m ON m.id = own.id
    GROUP BY m.thread_id ORDER BY top DESC LIMIT ${limit}`)
}

interface UnreadRow extends TopRow {
  unread: number
}

/** The threads in which an agent has unread mail; `top` is the newest of it. */
export async function listUnreadThreads(db: Reader, agentId: number): Promise<UnreadRow[]> {
  return db.all<UnreadRow>(sql`
    SELECT m.thread_id, MAX(m.id) AS top, COUNT(*) AS unread
    FROM (${fromUnread(db, sql`d.message_id`, { recipientId: agentId })}) AS waiting JOIN messages m ON m.id = waiting.message_id
    GROUP BY m.thread_id`)
}

export interface ConversationRow {
  id: number
  uid: string
  /** How many messages it has, in sight of the agent or not. */
  messages: number
  subject: string
}

export const listConversationRows = (db: Reader, agentId: number, ids: readonly number[]): Promise<ConversationRow[]> =>
  db.all<ConversationRow>(sql`
    SELECT t.id, t.uid, t.next_seq - 1 AS messages, ${subjectFor(agentId)} AS subject
    FROM threads t WHERE t.id IN ${listed(db, ids)}`)

/** How far back in a thread the newest message of another is looked for. */
const lookedBack = 100

/** An agent and its project. */
export interface PartyRow {
  name: string
  project_id: number
  slug: string
}

interface OtherRow extends PartyRow {
  thread_id: number
}

/** The agent that wrote last in each thread, apart from this one; else the recipient of this agent's newest message. */
export function listOthers(db: Reader, agentId: number, threadIds: readonly number[]): Promise<OtherRow[]> {
  const other = sql`COALESCE(
    (SELECT m.sender_id FROM messages m
      WHERE m.thread_id = t.id AND m.seq >= t.next_seq - ${lookedBack} AND m.sender_id <> ${agentId} AND ${partOf(agentId)}
      ORDER BY m.seq DESC LIMIT 1),
    (SELECT d.recipient_id FROM messages m JOIN deliveries d ON d.message_id = m.id
      WHERE m.thread_id = t.id AND m.sender_id = ${agentId} ORDER BY m.seq DESC, d.id LIMIT 1))`
  return db.all<OtherRow>(sql`
    SELECT found.id AS thread_id, o.name, o.project_id, p.slug
    FROM (SELECT t.id, ${other} AS other_id FROM threads t WHERE t.id IN ${listed(db, threadIds)}) AS found
    JOIN agents o ON o.id = found.other_id JOIN projects p ON p.id = o.project_id`)
}

/** The ids of the newest messages in sight of each thread, which may lie behind any number of others. */
export async function listNewest(db: Reader, agentId: number, threadIds: readonly number[]): Promise<number[]> {
  const nth = (place: number): Sql => sql`
    (SELECT m.id FROM messages m WHERE m.thread_id = t.id AND ${partOf(agentId)} ORDER BY m.seq DESC LIMIT 1 OFFSET ${place})`
  const rows = await db.all<{ first: number | null; second: number | null; third: number | null }>(sql`
    SELECT ${nth(0)} AS first, ${nth(1)} AS second, ${nth(2)} AS third FROM threads t WHERE t.id IN ${listed(db, threadIds)}`)
  return rows.flatMap(({ first, second, third }) => [first, second, third]).filter((id) => id !== null)
}

export interface ConversationMessageRow {
  id: number
  thread_id: number
  uid: string
  sender_id: number
  automatic: number
  body: string
  created_at: number
  hops: number
  /** Of a message that the agent was sent, by itself; of its own, by all to whom it openly went. */
  is_read: number
}

/** The agent that sees the messages; `most` cuts longer bodies, one character behind it. */
export interface Reading {
  agentId: number
  most?: number
}

/** No character is shorter than a byte: only bodies with more of those are counted through. */
const body = (most: number | undefined): Sql =>
  most === undefined
    ? sql`m.body`
    : sql`CASE WHEN octet_length(m.body) <= ${most} THEN m.body ELSE substr(m.body, 1, ${most + 1}) END`

const columns = ({ most }: Reading): Sql => sql`
  m.id, m.thread_id, m.uid, m.sender_id, CASE WHEN m.kind = ${automaticKind} THEN 1 ELSE 0 END AS automatic,
  ${body(most)} AS body, m.created_at, m.hops,
  CASE WHEN d.id IS NOT NULL THEN CASE WHEN d.read_at IS NULL OR d.ended IS NOT NULL THEN 0 ELSE 1 END
    WHEN EXISTS (SELECT 1 FROM deliveries o WHERE o.message_id = m.id AND o.kind <> 'bcc' AND (o.read_at IS NULL OR o.ended IS NOT NULL)) THEN 0
    ELSE 1 END AS is_read`

const besides = ({ agentId }: Reading): Sql => sql`
  LEFT JOIN deliveries d ON d.message_id = m.id AND d.recipient_id = ${agentId}`

/** Names of agents, which are few beside their messages, and which of them are contacts of the reader. */
export const listSenders = (
  db: Reader,
  ids: readonly number[],
  { reader, now }: { readonly reader: number; readonly now: number },
): Promise<(PartyRow & { id: number; contact: number })[]> =>
  db.all(sql`
    SELECT a.id, a.name, a.project_id, p.slug, ${isContact({ reader, sender: sql`a.id`, now })} AS contact FROM agents a JOIN projects p ON p.id = a.project_id
    WHERE a.id IN ${listed(db, ids)}`)

/** Messages as one of their parties sees them, in any order. */
export const listConversationMessages = (
  db: Reader,
  reading: Reading,
  ids: readonly number[],
): Promise<ConversationMessageRow[]> =>
  db.all<ConversationMessageRow>(sql`
    SELECT ${columns(reading)} FROM messages m ${besides(reading)} WHERE m.id IN ${listed(db, ids)}`)

/** Of the last messages in each thread, the ones that the agent sent or received, in any order. */
export const listLastMessages = (
  db: Reader,
  reading: Reading,
  { threadIds, last }: { threadIds: readonly number[]; last: number },
): Promise<ConversationMessageRow[]> =>
  db.all<ConversationMessageRow>(sql`
    SELECT ${columns(reading)}
    FROM threads t JOIN messages m ON m.thread_id = t.id AND m.seq >= t.next_seq - ${last} ${besides(reading)}
    WHERE t.id IN ${listed(db, threadIds)} AND (m.sender_id = ${reading.agentId} OR d.id IS NOT NULL)`)
