/** Rows of `messages`. */
import sql, { empty, type Sql } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

export interface NewMessage {
  uid: string
  threadId: number
  seq: number
  senderId: number
  clientId?: string | undefined
  kind?: string
  replyTo?: number | undefined
  subject?: string | undefined
  importance?: string
  /** Whether it is addressed to somebody; messages of a topic are not. */
  mail?: boolean
  ackRequired?: boolean
  body: string
  /** JSON. */
  metadata?: string | undefined
  /** JSON. */
  attachments?: string | undefined
  /** When its deliveries expire. */
  expiresAt?: number | undefined
  now: number
}

/** Written out, as are the other statements of a send: to join one from parts and find it again takes 1 to 2 µs more. */
export function insertMessage(tx: Tx, message: NewMessage): Promise<number> {
  const { threadId, seq, uid, senderId, clientId, kind = 'message', replyTo, body, metadata, now } = message
  const { subject, importance = 'normal', ackRequired = false, mail = true, attachments } = message
  return tx.insert(sql`
    INSERT INTO messages (thread_id, seq, uid, sender_id, client_id, kind, reply_to, subject, importance,
      ack_required, mail, body, metadata, attachments, created_at)
    VALUES (${threadId}, ${seq}, ${uid}, ${senderId}, ${clientId ?? null}, ${kind}, ${replyTo ?? null},
      ${subject ?? null}, ${importance}, ${ackRequired ? 1 : 0}, ${mail ? 1 : 0}, ${body}, ${metadata ?? null},
      ${attachments ?? null}, ${now})`)
}

/** A message as the readers of its thread see it. */
export interface ThreadMessageRow {
  id: number
  uid: string
  seq: number
  sender: string
  kind: string
  reply_to: string | null
  body: string
  metadata: string | null
  client_id: string | null
  created_at: number
}

const asSeen = sql`
  SELECT m.id, m.uid, m.seq, a.name AS sender, m.kind, r.uid AS reply_to, m.body, m.metadata, m.client_id, m.created_at
  FROM messages m JOIN agents a ON a.id = m.sender_id LEFT JOIN messages r ON r.id = m.reply_to`

const notBy = (senderId: number | undefined): Sql =>
  senderId === undefined ? empty : sql`AND m.sender_id <> ${senderId}`

interface Part {
  threadId: number
  /** Only messages after this `seq`. */
  after: number
  /** The agent whose messages are left out. */
  except?: number | undefined
}

/** The next messages of a thread, in its order. */
export function listMessagesAfter(
  db: Reader,
  { threadId, after, except }: Part,
  limit: number,
): Promise<ThreadMessageRow[]> {
  return db.all<ThreadMessageRow>(sql`
    ${asSeen} WHERE m.thread_id = ${threadId} AND m.seq > ${after} ${notBy(except)} ORDER BY m.seq LIMIT ${limit}`)
}

/** Whether a thread has a message that the agent has not read. */
export async function hasUnread(
  db: Reader,
  { threadId, agentId, includeSelf }: { threadId: number; agentId: number; includeSelf: boolean },
): Promise<boolean> {
  const after = includeSelf ? sql`c.last_seq` : sql`c.scanned_seq`
  const rows = await db.all(sql`
    SELECT 1 FROM cursors c JOIN messages m ON m.thread_id = c.thread_id AND m.seq > ${after}
    WHERE c.thread_id = ${threadId} AND c.agent_id = ${agentId} ${notBy(includeSelf ? undefined : agentId)} LIMIT 1`)
  return rows.length > 0
}

/** The message that a sender has put into a thread under this client id. */
export async function findInThread(
  db: Reader,
  { threadId, senderId, clientId }: { threadId: number; senderId: number; clientId: string },
): Promise<ThreadMessageRow | undefined> {
  const [row] = await db.all<ThreadMessageRow>(sql`
    ${asSeen} WHERE m.thread_id = ${threadId} AND m.sender_id = ${senderId} AND m.client_id = ${clientId}`)
  return row
}

export async function findMessageId(db: Reader, threadId: number, uid: string): Promise<number | undefined> {
  const [row] = await db.all<{ id: number }>(
    sql`SELECT id FROM messages WHERE uid = ${uid} AND thread_id = ${threadId}`,
  )
  return row?.id
}

export async function findMessageByUid(db: Reader, uid: string): Promise<number | undefined> {
  const [row] = await db.all<{ id: number }>(sql`SELECT id FROM messages WHERE uid = ${uid}`)
  return row?.id
}

export async function findUid(db: Reader, id: number): Promise<string | undefined> {
  const [row] = await db.all<{ uid: string }>(sql`SELECT uid FROM messages WHERE id = ${id}`)
  return row?.uid
}

export async function findSender(db: Reader, id: number): Promise<number | undefined> {
  const [row] = await db.all<{ sender_id: number }>(sql`SELECT sender_id FROM messages WHERE id = ${id}`)
  return row?.sender_id
}
