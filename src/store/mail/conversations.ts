/** Conversations: threads of mail as one of their agents sees them, and the thread of two agents about a subject. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { forUpdate } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { type MailThreadRow, threadColumns } from '../threads/mail-threads.ts'
import { fromInbox } from './boxes.ts'

/** The messages `m` that an agent sent or was sent. */
export const partOf = (agentId: number): Sql => sql`(m.sender_id = ${agentId} OR EXISTS (
  SELECT 1 FROM deliveries own WHERE own.message_id = m.id AND own.recipient_id = ${agentId}))`

/** `messages.kind` of a message that a program sent without a person or agent looking at it. */
export const automaticKind = 'automatic'

/** The kind of the hub's own notices. */
export const noticeKind = 'notice'

interface Pair {
  senderId: number
  otherId: number
}

export const pairOf = ({ senderId, otherId }: Pair): [number, number] => [
  Math.min(senderId, otherId),
  Math.max(senderId, otherId),
]

export interface About extends Pair {
  /** The subject without case. */
  key: string
}

const conversation = ({ key, ...pair }: About): Sql => {
  const [low, high] = pairOf(pair)
  return sql`
    SELECT ${threadColumns} FROM conversations c JOIN threads t ON t.id = c.thread_id
    WHERE c.low_id = ${low} AND c.high_id = ${high} AND c.subject_key = ${key}`
}

/** The thread of two agents about a subject. */
export async function findConversation(db: Reader, about: About): Promise<MailThreadRow | undefined> {
  const [row] = await db.all<MailThreadRow>(conversation(about))
  return row
}

/** The same, locked until the message is in it. */
export async function lockConversation(db: Reader, about: About): Promise<MailThreadRow | undefined> {
  const [row] = await db.all<MailThreadRow>(sql`${conversation(about)} ${forUpdate(db, 't')}`)
  return row
}

/** Of two that begin the same conversation at once, one fails here, and finds the other's the next time. */
export function insertConversation(tx: Tx, { key, threadId, ...pair }: About & { threadId: number }): void {
  const [low, high] = pairOf(pair)
  tx.enqueue(sql`
    INSERT INTO conversations (low_id, high_id, subject_key, thread_id) VALUES (${low}, ${high}, ${key}, ${threadId})`)
}

/** How many messages of each inbox are looked through for a thread that was begun at another door. */
const lookedThrough = 300

/** The threads that one of two agents began with a message to the other alone, the newest first. */
export function listBegun(
  db: Reader,
  { senderId, otherId }: Pair,
): Promise<{ thread_id: number; subject: string | null }[]> {
  const begun = (from: number, to: number): Sql => sql`
    SELECT m.thread_id, m.subject, m.id FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id IN (SELECT message_id FROM (
        ${fromInbox(db, sql`d.message_id`, { recipientId: to })} ORDER BY message_id DESC LIMIT ${lookedThrough}) AS newest)
      AND m.sender_id = ${from} AND m.seq = 1 AND m.subject IS NOT NULL AND m.kind <> 'contact' AND t.name IS NULL
      AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.message_id = m.id AND o.recipient_id <> ${to})`
  return db.all(sql`
    SELECT thread_id, subject FROM (${begun(senderId, otherId)} UNION ALL ${begun(otherId, senderId)}) AS both_ways
    ORDER BY id DESC`)
}

interface ThreadRow {
  id: number
  uid: string
  subject: string
  /** Whether each of the two has part in it. */
  mine: number
  others: number
}

/** A thread of mail, its subject as the agent knows it, and who has part in it. */
export async function findMailThreadOf(
  db: Reader,
  { uid, agentId, otherId = agentId }: { uid: string; agentId: number; otherId?: number },
): Promise<ThreadRow | undefined> {
  const part = (id: number): Sql => sql`
    CASE WHEN EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND ${partOf(id)}) THEN 1 ELSE 0 END`
  const [row] = await db.all<ThreadRow>(sql`
    SELECT t.id, t.uid, ${subjectFor(agentId)} AS subject, ${part(agentId)} AS mine,
      ${otherId === agentId ? sql`1` : part(otherId)} AS others
    FROM threads t WHERE t.uid = ${uid} AND t.name IS NULL AND t.status <> 'deleted'`)
  return row
}

/** The subject of thread `t`: that of the first message in sight of the agent, or the beginning of its text. */
export const subjectFor = (agentId: number): Sql => sql`COALESCE((
  SELECT COALESCE(m.subject, substr(m.body, 1, 120)) FROM messages m
  WHERE m.thread_id = t.id AND ${partOf(agentId)} ORDER BY m.seq LIMIT 1), '')`

interface OwnMessageRow {
  id: number
  uid: string
  thread_id: number
  sender_id: number
  seq: number
}

/** A message that the agent sent or was sent. */
export async function findOwnMessage(db: Reader, agentId: number, uid: string): Promise<OwnMessageRow | undefined> {
  const [row] = await db.all<OwnMessageRow>(sql`
    SELECT m.id, m.uid, m.thread_id, m.sender_id, m.seq FROM messages m WHERE m.uid = ${uid} AND m.mail = 1 AND ${partOf(agentId)}`)
  return row
}

export async function findUid(db: Reader, messageId: number): Promise<string | undefined> {
  const [row] = await db.all<{ uid: string }>(sql`SELECT uid FROM messages WHERE id = ${messageId}`)
  return row?.uid
}

/** Messages of a thread in sight of the agent, newest first, with the sizes of their bodies. */
export function listHistory(
  db: Reader,
  {
    threadId,
    agentId,
    before,
    limit,
  }: { threadId: number; agentId: number; before: number | undefined; limit: number },
): Promise<{ id: number; bytes: number }[]> {
  return db.all(sql`
    SELECT m.id, octet_length(m.body) AS bytes FROM messages m
    WHERE m.thread_id = ${threadId} ${before === undefined ? empty : sql`AND m.seq < ${before}`} AND ${partOf(agentId)}
    ORDER BY m.seq DESC LIMIT ${limit}`)
}

/** The automatic messages at the end of a thread. */
export async function countAutomatic(db: Reader, threadId: number): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM messages WHERE thread_id = ${threadId} AND seq > COALESCE((
      SELECT seq FROM messages WHERE thread_id = ${threadId} AND kind NOT IN (${automaticKind}, ${noticeKind}) ORDER BY seq DESC LIMIT 1), 0)`)
  return Number(row?.count ?? 0)
}

export async function findSessionKey(db: Reader, agentId: number, threadId: number): Promise<string | undefined> {
  const [row] = await db.all<{ session_key: string }>(sql`
    SELECT session_key FROM bridged_threads WHERE agent_id = ${agentId} AND thread_id = ${threadId}`)
  return row?.session_key
}

export async function upsertSessionKey(tx: Tx, agentId: number, threadId: number, key: string): Promise<void> {
  await tx.change(sql`
    INSERT INTO bridged_threads (agent_id, thread_id, session_key) VALUES (${agentId}, ${threadId}, ${key})
    ON CONFLICT (agent_id, thread_id) DO UPDATE SET session_key = excluded.session_key`)
}
