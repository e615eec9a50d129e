/** Threads as the hub door shows them: found by name for a sight, read by `seq`, with how far an agent was shown each. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { isContact } from '../contacts/contacts.ts'
import { fromInbox, fromOutbox, fromUnread } from '../mail/boxes.ts'
import type { Ending } from '../messages/deliveries.ts'
import { agentsIn, readable, type Sight, seenThread, shownSubject, threadName } from '../visibility.ts'
import { threadsCalled } from './mail-threads.ts'

export interface ThreadRow {
  id: number
  uid: string
  project_id: number
  /** Its name for clients: the key, the uid of a topic, or the id of the message that began it. */
  called: string
  /** The name of a topic. */
  topic: string | null
  status: 'open' | 'closed'
  next_seq: number
}

const columns = sql`t.id, t.uid, t.project_id, t.name AS topic, t.status, t.next_seq, ${threadName} AS called`

/** More threads of one name than this are not looked through. */
const mostThreads = 20

interface Wanted {
  key: string
  projectId: number
  /** An agent that may have been granted threads of other projects, or got blind copies there. */
  agentId: number | undefined
  now: number
}

/** The threads that go by a name in a project, its own first; whether anything of them is seen is another question. */
export function listThreadsNamed(db: Reader, { key, projectId, agentId = 0, now }: Wanted): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(sql`
    SELECT ${columns} FROM threads t WHERE t.id IN (${threadsCalled(key)})
      AND (${seenThread(projectId)} OR (t.status <> 'deleted' AND (EXISTS (
          SELECT 1 FROM grants g WHERE g.thread_id = t.id AND g.agent_id = ${agentId} AND g.expires_at > ${now})
        OR EXISTS (SELECT 1 FROM messages m JOIN deliveries d ON d.message_id = m.id
          WHERE m.thread_id = t.id AND d.recipient_id = ${agentId} AND d.kind = 'bcc'))))
    ORDER BY CASE WHEN t.project_id = ${projectId} THEN 0 ELSE 1 END, t.id LIMIT ${mostThreads}`)
}

export const listThreadsById = async (db: Reader, ids: readonly number[]): Promise<ThreadRow[]> =>
  ids.length === 0 ? [] : db.all<ThreadRow>(sql`SELECT ${columns} FROM threads t WHERE t.id IN ${listed(db, ids)}`)

/** Whether somebody sees any message of a thread, or has joined it. */
export async function isSeen(db: Reader, threadId: number, sight: Sight): Promise<boolean> {
  if (sight.of === 'everybody') return true
  const rows = await db.all(sql`
    SELECT 1 FROM threads t WHERE t.id = ${threadId} AND (
      (t.name IS NOT NULL AND EXISTS (
        SELECT 1 FROM cursors c WHERE c.thread_id = t.id AND c.agent_id IN ${listed(db, agentsIn(sight))}))
      OR EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND ${readable(sight)}))`)
  return rows.length > 0
}

export interface ViewRow {
  id: number
  seq: number
  sender_id: number
  sender: string
  sender_project: number
  /** 1 if the sender is a contact of the one who looks. */
  contact: number
  reply_to: number | null
  hops: number
  created_at: number
  attachments: string | null
  bytes: number
  /** Whether it came to the one who looks, who has not read it yet. */
  unread: number
  /** How it left a mailbox unread, where it did. */
  ended: Ending | null
}

/** A message as `ViewRow` has it, for an agent that looks, if there is one. */
const viewColumns = (agentId = 0, now: number): Sql => sql`
  m.id, m.seq, m.sender_id, a.name AS sender, a.project_id AS sender_project, m.reply_to, m.created_at, m.hops, m.attachments,
  ${isContact({ reader: agentId, sender: sql`m.sender_id`, now })} AS contact,
  octet_length(m.body) AS bytes, (SELECT COUNT(*) FROM deliveries u
    WHERE u.message_id = m.id AND u.recipient_id = ${agentId} AND u.read_at IS NULL) AS unread, (SELECT e.ended FROM deliveries e
    WHERE e.message_id = m.id AND e.ended IS NOT NULL AND (e.kind <> 'bcc' OR e.recipient_id = ${agentId}) LIMIT 1) AS ended`

interface Part {
  threadId: number
  sight: Sight
  /** Only messages after this `seq`. */
  after: number
}

/** The next messages of a thread that somebody sees, in its order and without their texts. */
export function listSeen(
  db: Reader,
  { threadId, sight, after }: Part,
  { agentId, limit, now }: { agentId: number | undefined; limit: number; now: number },
): Promise<ViewRow[]> {
  return db.all<ViewRow>(sql`
    SELECT ${viewColumns(agentId, now)}
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id = ${threadId} AND m.seq > ${after} AND ${readable(sight)} ORDER BY m.seq LIMIT ${limit}`)
}

export async function listTexts(db: Reader, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.all<{ id: number; body: string }>(
    sql`SELECT id, body FROM messages WHERE id IN ${listed(db, ids)}`,
  )
  return new Map(rows.map(({ id, body }) => [id, body]))
}

/** The first message of a thread that somebody sees tells its subject. */
export async function findSubject(db: Reader, threadId: number, sight: Sight): Promise<string> {
  const [row] = await db.all<{ subject: string }>(sql`
    SELECT ${shownSubject} AS subject FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.thread_id = ${threadId} AND ${readable(sight)} ORDER BY m.seq LIMIT 1`)
  return row?.subject ?? ''
}

interface PartyRow {
  seq: number
  id: number
  name: string
  project_id: number
}

/** Senders and open recipients of the messages in sight, for one part of the thread at a time. */
export function listParties(db: Reader, { threadId, sight, after }: Part, through: number): Promise<PartyRow[]> {
  const part = sql`m.thread_id = ${threadId} AND m.seq > ${after} AND m.seq <= ${through} AND ${readable(sight)}`
  return db.all<PartyRow>(sql`
    SELECT MIN(seq) AS seq, id, name, project_id FROM (
      SELECT m.seq, a.id, a.name, a.project_id FROM messages m
        JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id WHERE ${part}
      UNION ALL SELECT m.seq, a.id, a.name, a.project_id FROM messages m JOIN threads t ON t.id = m.thread_id
        JOIN deliveries r ON r.message_id = m.id AND r.kind <> 'bcc' JOIN agents a ON a.id = r.recipient_id WHERE ${part}
    ) AS parties GROUP BY id, name, project_id ORDER BY 1, id`)
}

/** Agents that have joined a topic. */
export const listMembers = (db: Reader, threadId: number, limit: number): Promise<Omit<PartyRow, 'seq'>[]> =>
  db.all(sql`
    SELECT a.id, a.name, a.project_id FROM cursors c JOIN agents a ON a.id = c.agent_id
    WHERE c.thread_id = ${threadId} ORDER BY c.joined_at, a.id LIMIT ${limit}`)

/** How far an agent was shown a topic; only ever further. */
export async function raiseReadMark(
  tx: Tx,
  { agentId, threadId, seq }: { agentId: number; threadId: number; seq: number },
): Promise<void> {
  await tx.all(sql`
    INSERT INTO read_marks (agent_id, thread_id, seq) VALUES (${agentId}, ${threadId}, ${seq})
    ON CONFLICT (agent_id, thread_id) DO UPDATE SET seq = ${seq} WHERE read_marks.seq < ${seq}`)
}

/** Takes back what an answer that was lost had moved, unless another has moved it since. */
export async function lowerReadMark(
  tx: Tx,
  { agentId, threadId, from, to }: { agentId: number; threadId: number; from: number; to: number },
): Promise<void> {
  await tx.all(sql`
    UPDATE read_marks SET seq = ${to} WHERE agent_id = ${agentId} AND thread_id = ${threadId} AND seq = ${from}`)
}

/** How far an agent was given a topic: here, or by a sync. */
export async function findReadMark(db: Reader, agentId: number, threadId: number): Promise<number> {
  const [row] = await db.all<{ seq: number | null }>(sql`
    SELECT MAX(seq) AS seq FROM (
      SELECT seq FROM read_marks WHERE agent_id = ${agentId} AND thread_id = ${threadId}
      UNION ALL SELECT last_seq FROM cursors WHERE agent_id = ${agentId} AND thread_id = ${threadId}) AS given`)
  return row?.seq ?? 0
}

/** How much unread mail an agent has in each of its threads. */
export async function countUnreadMail(db: Reader, agentId: number): Promise<Map<number, number>> {
  const rows = await db.all<{ thread_id: number; count: number }>(sql`
    SELECT m.thread_id, COUNT(*) AS count
    FROM (${fromUnread(db, sql`d.message_id`, { recipientId: agentId })}) AS waiting
    JOIN messages m ON m.id = waiting.message_id GROUP BY m.thread_id`)
  return new Map(rows.map(({ thread_id, count }) => [thread_id, Number(count)]))
}

/** The threads of the newest messages that an agent sent, got or has in its topics, before the message with the id `before`. */
export async function listThreadsOfAgent(
  db: Reader,
  { agentId, before, limit }: { agentId: number; before: number; limit: number },
): Promise<number[]> {
  const got = fromInbox(db, sql`d.message_id AS id`, {
    recipientId: agentId,
    where: sql`AND d.message_id < ${before}`,
  })
  const newest = (from: Sql) => sql`SELECT id FROM (${from} ORDER BY id DESC LIMIT ${limit}) AS part`
  const rows = await db.all<{ thread_id: number }>(sql`
    SELECT m.thread_id, MAX(m.id) AS newest FROM messages m WHERE m.id IN (
        ${newest(got)} UNION ALL ${newest(sql`SELECT id FROM (${fromOutbox(db, { senderId: agentId, below: before })}) AS sent`)}
      ) GROUP BY m.thread_id
    UNION ALL SELECT c.thread_id, COALESCE((SELECT MAX(m.id) FROM messages m WHERE m.thread_id = c.thread_id AND m.id < ${before}), 0)
      FROM cursors c WHERE c.agent_id = ${agentId}
    ORDER BY 2 DESC, 1 DESC LIMIT ${limit}`)
  return rows.map(({ thread_id }) => thread_id)
}

interface StandRow {
  last_id: number
  last_seq: number
}

/** The last message of a thread that somebody sees. */
export async function findLastSeen(db: Reader, threadId: number, sight: Sight): Promise<StandRow | undefined> {
  const [row] = await db.all<StandRow>(sql`
    SELECT m.id AS last_id, m.seq AS last_seq FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.thread_id = ${threadId} AND ${readable(sight)} ORDER BY m.seq DESC LIMIT 1`)
  return row
}

/** How many messages of others an agent sees in a topic behind a place; no further than `most`. */
export async function countUnseen(
  db: Reader,
  { threadId, sight, after }: Part,
  { notBy, most }: { notBy: number; most: number },
): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM (SELECT m.id FROM messages m JOIN threads t ON t.id = m.thread_id
      WHERE m.thread_id = ${threadId} AND m.seq > ${after} AND m.sender_id <> ${notBy} AND ${readable(sight)}
      LIMIT ${most}) AS unseen`)
  return Number(row?.count ?? 0)
}

interface CarrierRow {
  id: number
  project_id: number
  attachments: string | null
}

/** A message of a thread that somebody sees, with the project that its files are in. */
export async function findCarrier(
  db: Reader,
  { threadId, sight, messageId }: { threadId: number; sight: Sight; messageId: number },
): Promise<CarrierRow | undefined> {
  const [row] = await db.all<CarrierRow>(sql`
    SELECT m.id, a.project_id, m.attachments FROM messages m JOIN threads t ON t.id = m.thread_id
      JOIN agents a ON a.id = m.sender_id
    WHERE m.id = ${messageId} AND m.thread_id = ${threadId} AND ${readable(sight)}`)
  return row
}

/** The place of a message in a thread. */
export async function findPlaceOf(
  db: Reader,
  messageId: number,
): Promise<{ thread_id: number; seq: number; sender_id: number } | undefined> {
  const [row] = await db.all<{ thread_id: number; seq: number; sender_id: number }>(
    sql`SELECT thread_id, seq, sender_id FROM messages WHERE id = ${messageId}`,
  )
  return row
}

interface ReplyQuery {
  threadId: number
  /** The message that is answered, and its place. */
  messageId: number
  after: number
  /** The agents that were asked: any later message of theirs counts as an answer, unless it names another message. */
  from: readonly number[]
  /** The agent that asked: its own messages are no answer. */
  notBy: number
  sight: Sight
  now: number
}

/** The answers to a message, in order: those that name it, and of those asked also their next word in the thread. None that has expired. */
export function listReplies(db: Reader, query: ReplyQuery): Promise<ViewRow[]> {
  const { threadId, messageId, after, from, notBy, sight, now } = query
  const next = from.length === 0 ? empty : sql`OR (m.reply_to IS NULL AND m.sender_id IN ${listed(db, from)})`
  return db.all<ViewRow>(sql`
    SELECT ${viewColumns(notBy, now)}
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id = ${threadId} AND m.seq > ${after} AND m.sender_id <> ${notBy}
      AND (m.reply_to = ${messageId} ${next}) AND ${readable(sight)} AND NOT EXISTS (
        SELECT 1 FROM deliveries e WHERE e.message_id = m.id AND e.recipient_id = ${notBy} AND e.ended IS NOT NULL)
    ORDER BY m.seq`)
}
