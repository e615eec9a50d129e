/** A project as rows, to be written out and taken in again elsewhere: its agents, its threads, and their messages. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { lookOf } from '../../base/confusables.ts'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { DeliveryKind, Ending } from '../messages/deliveries.ts'
import { insertMessage, type NewMessage } from '../messages/messages.ts'

interface TransferAgentRow {
  id: number
  name: string
  program: string
  model: string
  task: string
  contact_policy: string
  keyed: number
  active_at: number
  created_at: number
}

const agentColumns = sql`id, name, program, model, task, contact_policy, keyed, active_at, created_at`

interface AgentsQuery {
  readonly after: number
  readonly limit: number
  /** Only these; undefined for all. */
  readonly among: readonly number[] | undefined
}

export const listAgentsFrom = (db: Reader, projectId: number, { after, limit, among }: AgentsQuery) =>
  db.all<TransferAgentRow>(sql`
    SELECT ${agentColumns} FROM agents
    WHERE project_id = ${projectId} AND id > ${after} ${among === undefined ? empty : sql`AND id IN ${listed(db, among)}`}
    ORDER BY id LIMIT ${limit}`)

/** Everybody who wrote or received something in these threads. */
export async function listPeopleOf(db: Reader, threadIds: readonly number[]): Promise<number[]> {
  const threads = listed(db, threadIds)
  const rows = await db.all<{ id: number }>(sql`
    SELECT sender_id AS id FROM messages WHERE thread_id IN ${threads}
    UNION SELECT d.recipient_id FROM messages m JOIN deliveries d ON d.message_id = m.id WHERE m.thread_id IN ${threads}`)
  return rows.map(({ id }) => id)
}

interface TransferThreadRow {
  id: number
  uid: string
  key: string | null
  name: string | null
  status: 'open' | 'closed'
  metadata: string | null
  created_at: number
  closed_at: number | null
  close_reason: string | null
  next_seq: number
}

interface ThreadsQuery {
  readonly projectId: number
  readonly called: string | undefined
  readonly ids: readonly number[] | undefined
  readonly after: number
  readonly limit: number
}

/** The threads of a project; `called` leaves only those of that key, uid, name or first message. */
export function listThreadsFrom(
  db: Reader,
  { projectId, called, ids, after, limit }: ThreadsQuery,
): Promise<TransferThreadRow[]> {
  const number = /^[1-9]\d{0,14}$/.test(called ?? '') ? Number(called) : 0
  const only =
    called === undefined
      ? empty
      : sql`AND (key = ${called} OR uid = ${called} OR name = ${called}
          OR id = (SELECT thread_id FROM messages WHERE id = ${number} AND seq = 1))`
  return db.all<TransferThreadRow>(sql`
    SELECT id, uid, key, name, status, metadata, created_at, closed_at, close_reason, next_seq FROM threads
    WHERE project_id = ${projectId} AND status <> 'deleted' AND id > ${after} ${only}
      ${ids === undefined ? empty : sql`AND id IN ${listed(db, ids)}`} ORDER BY id LIMIT ${limit}`)
}

export interface TransferMessageRow {
  id: number
  uid: string
  thread_uid: string
  seq: number
  sender: string
  /** The key of the sender's project. */
  sender_project: string
  sender_project_id: number
  client_id: string | null
  kind: string
  reply_to: number | null
  subject: string | null
  importance: 'low' | 'normal' | 'high' | 'urgent'
  ack_required: number
  mail: number
  body: string
  /** JSON; `attachmentsOf` in attachments.ts reads it. */
  attachments: string | null
  metadata: string | null
  created_at: number
  /** The person who wrote it as HumanOverseer. */
  author: string | null
}

const messages = sql`
  SELECT m.id, m.uid, t.uid AS thread_uid, m.seq, a.name AS sender, p.human_key AS sender_project,
    p.id AS sender_project_id, m.client_id, m.kind, m.reply_to, m.subject, m.importance, m.ack_required, m.mail, m.body,
    m.attachments, m.metadata, m.created_at, w.name AS author
  FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    JOIN projects p ON p.id = a.project_id LEFT JOIN message_people w ON w.message_id = m.id`

/** In the order in which they were sent. */
export const listMessagesFrom = (
  db: Reader,
  { threads, after, limit }: { threads: Sql; after: number; limit: number },
): Promise<TransferMessageRow[]> =>
  db.all<TransferMessageRow>(sql`
    ${messages} WHERE m.thread_id IN (${threads}) AND m.id > ${after} ORDER BY m.id LIMIT ${limit}`)

export const threadsOfProject = (projectId: number): Sql =>
  sql`SELECT id FROM threads WHERE project_id = ${projectId} AND status <> 'deleted'`

export const theseThreads = (ids: readonly number[]): Sql => join([...ids])

export interface TransferDeliveryRow {
  message_id: number
  name: string
  project: string
  kind: DeliveryKind
  read_at: number | null
  acked_at: number | null
  ended: Ending | null
}

export const listDeliveriesOf = (db: Reader, messageIds: readonly number[]): Promise<TransferDeliveryRow[]> =>
  db.all<TransferDeliveryRow>(sql`
    SELECT d.message_id, a.name, p.human_key AS project, d.kind, d.read_at, d.acked_at, d.ended
    FROM deliveries d JOIN agents a ON a.id = d.recipient_id JOIN projects p ON p.id = a.project_id
    WHERE d.message_id IN ${listed(db, messageIds)} ORDER BY d.id`)

interface ImportedAgent extends Omit<TransferAgentRow, 'id'> {
  project_id: number
  name_key: string
}

export async function insertImportedAgent(tx: Tx, agent: ImportedAgent): Promise<number> {
  const { project_id, name, name_key, program, model, task, contact_policy, keyed, active_at, created_at } = agent
  const [row] = await tx.all<{ id: number }>(sql`
    INSERT INTO agents (project_id, name, name_key, look, program, model, task, contact_policy, keyed, active_at, created_at)
    VALUES (${project_id}, ${name}, ${name_key}, ${lookOf(name)}, ${program}, ${model}, ${task}, ${contact_policy}, ${keyed},
      ${active_at}, ${created_at}) RETURNING id`)
  return (row as { id: number }).id
}

export const isUidTaken = async (db: Reader, table: 'threads' | 'messages', uid: string): Promise<boolean> =>
  (
    await db.all(
      table === 'threads'
        ? sql`SELECT 1 AS taken FROM threads WHERE uid = ${uid}`
        : sql`SELECT 1 AS taken FROM messages WHERE uid = ${uid}`,
    )
  ).length > 0

export const hasThread = async (db: Reader, uid: string, projectId: number): Promise<boolean> =>
  (
    await db.all(
      sql`SELECT 1 AS there FROM threads WHERE uid = ${uid} AND project_id = ${projectId} AND status <> 'deleted'`,
    )
  ).length > 0

export async function insertImportedThread(
  tx: Tx,
  thread: Omit<TransferThreadRow, 'id' | 'next_seq'> & { project_id: number; name_key: string | null },
): Promise<number> {
  const { uid, project_id, key, name, name_key, status, metadata, created_at, closed_at, close_reason } = thread
  const [row] = await tx.all<{ id: number }>(sql`
    INSERT INTO threads (uid, project_id, key, name, name_key, status, metadata, next_seq, created_at, closed_at, close_reason)
    VALUES (${uid}, ${project_id}, ${key}, ${name}, ${name_key}, ${status}, ${metadata}, 1, ${created_at}, ${closed_at},
      ${close_reason}) RETURNING id`)
  return (row as { id: number }).id
}

export function insertImportedMessage(tx: Tx, message: NewMessage): Promise<number> {
  const { threadId, seq } = message
  tx.enqueue(sql`UPDATE threads SET next_seq = ${seq + 1} WHERE id = ${threadId} AND next_seq <= ${seq}`)
  return insertMessage(tx, message)
}

interface ImportedDelivery {
  recipientId: number
  kind: DeliveryKind
  readAt: number | null
  ackedAt: number | null
  ended: Ending | null
}

/** With what they repeat of their message, the counters of unread mail, and the sender's own name for it. */
export async function insertImportedDeliveries(
  tx: Tx,
  message: {
    id: number
    senderId: number
    clientId: string | null
    sentAt: number
    urgent: boolean
    ackWanted: boolean
  },
  deliveries: readonly ImportedDelivery[],
): Promise<void> {
  const { id, senderId, clientId, sentAt, urgent, ackWanted } = message
  for (const { recipientId, kind, readAt, ackedAt, ended } of deliveries) {
    await tx.all(sql`
      INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted, read_at, acked_at, ended)
      VALUES (${id}, ${recipientId}, ${kind}, ${sentAt}, ${urgent ? 1 : 0}, ${ackWanted ? 1 : 0}, ${readAt}, ${ackedAt}, ${ended})`)
    if (readAt === null) await tx.all(sql`UPDATE agents SET unread = unread + 1 WHERE id = ${recipientId}`)
    if (clientId !== null)
      await tx.all(sql`
        INSERT INTO client_ids (recipient_id, client_id, sender_id, message_id)
        VALUES (${recipientId}, ${clientId}, ${senderId}, ${id}) ON CONFLICT DO NOTHING`)
  }
}
