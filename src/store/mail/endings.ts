/** Mail that leaves its mailbox unread: what is due to expire, and the deliveries that ended. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { skipLocked } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { type DeliveryKind, type Ending, readTime } from '../messages/deliveries.ts'
import { fromUnread } from './boxes.ts'

/** The condition on unread deliveries (`d`) with a time to live: a loan is waited for. */
const isDue = (now: number): Sql => sql`
  d.expires_at IS NOT NULL AND d.read_at IS NULL AND d.expires_at <= ${now} AND (d.held_until IS NULL OR d.held_until <= ${now})`

/** Messages with deliveries that have expired, and are still in their mailboxes. */
export async function listExpired(db: Reader, now: number, limit: number): Promise<number[]> {
  const rows = await db.all<{ message_id: number }>(
    sql`SELECT DISTINCT d.message_id FROM deliveries d WHERE ${isDue(now)} LIMIT ${limit}`,
  )
  return rows.map(({ message_id }) => message_id)
}

/** When there will be more to do: the next time to live that is over, or the next loan of mail whose time is over. */
export async function findNextExpiry(db: Reader, now: number): Promise<number | undefined> {
  const [row] = await db.all<{ next: number | null; lent: number | null }>(sql`
    SELECT
      (SELECT MIN(expires_at) FROM deliveries WHERE expires_at IS NOT NULL AND read_at IS NULL AND expires_at > ${now}) AS next,
      (SELECT MIN(held_until) FROM deliveries
        WHERE expires_at IS NOT NULL AND read_at IS NULL AND expires_at <= ${now} AND held_until > ${now}) AS lent`)
  const times = [row?.next, row?.lent].filter((at) => at !== null && at !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** A message, as its sender is told of it. */
export interface EndedMessageRow {
  id: number
  called: string
  thread_id: number
  subject: string | null
  created_at: number
  sender_id: number
  sender: string
  sender_project: number
}

export async function findEndedMessage(db: Reader, id: number): Promise<EndedMessageRow | undefined> {
  const [row] = await db.all<EndedMessageRow>(sql`
    SELECT m.id, COALESCE(m.client_id, m.uid) AS called, m.thread_id, m.subject, m.created_at, m.sender_id, a.name AS sender,
      a.project_id AS sender_project
    FROM messages m JOIN agents a ON a.id = m.sender_id WHERE m.id = ${id}`)
  return row
}

export interface EndingRow {
  id: number
  recipient_id: number
  name: string
  project_id: number
  kind: DeliveryKind
}

/** The deliveries of a message that have expired; on PostgreSQL without those that somebody is taking just now. */
export const listExpiredOf = (tx: Tx, messageId: number, now: number): Promise<EndingRow[]> =>
  tx.all<EndingRow>(sql`
    SELECT d.id, d.recipient_id, a.name, a.project_id, d.kind FROM deliveries d JOIN agents a ON a.id = d.recipient_id
    WHERE d.message_id = ${messageId} AND ${isDue(now)} ORDER BY d.id ${skipLocked(tx, 'd')}`)

/** The condition on unread deliveries (`d`) that were lent so often, and have come back each time. */
const isWorn = ({ now, attempts }: { now: number; attempts: number }): Sql =>
  sql`d.attempts >= ${attempts} AND (d.held_until IS NULL OR d.held_until <= ${now})`

interface Worn {
  readonly recipientId: number
  readonly attempts: number
  readonly now: number
}

/** Messages of an agent that have come back too often. */
export async function listWorn(db: Reader, { recipientId, ...worn }: Worn): Promise<number[]> {
  const rows = await db.all<{ message_id: number }>(
    fromUnread(db, sql`d.message_id`, { recipientId, where: sql`AND ${isWorn(worn)}` }),
  )
  return rows.map(({ message_id }) => message_id)
}

/** The same of one message; none where somebody is taking it just now. */
export const listWornOf = (tx: Tx, messageId: number, { recipientId, ...worn }: Worn): Promise<EndingRow[]> =>
  tx.all<EndingRow>(sql`
    SELECT d.id, d.recipient_id, a.name, a.project_id, d.kind FROM deliveries d JOIN agents a ON a.id = d.recipient_id
    WHERE d.message_id = ${messageId} AND d.recipient_id = ${recipientId} AND d.read_at IS NULL AND ${isWorn(worn)}
    ${skipLocked(tx, 'd')}`)

export interface DeadRow {
  id: number
  message_id: number
  recipient_id: number
  name: string
  project_id: number
  attempts: number
  died_at: number
}

/** Dead letters, those of the newest messages first; of one message where it is named. */
export const listDead = (
  db: Reader,
  { messageId, limit }: { messageId?: number | undefined; limit: number },
): Promise<DeadRow[]> =>
  db.all<DeadRow>(sql`
    SELECT d.id, d.message_id, d.recipient_id, a.name, a.project_id, COALESCE(d.attempts, 0) AS attempts, d.read_at AS died_at
    FROM deliveries d JOIN agents a ON a.id = d.recipient_id
    WHERE d.ended = 'dead' ${messageId === undefined ? empty : sql`AND d.message_id = ${messageId}`}
    ORDER BY d.message_id DESC, d.id LIMIT ${limit}`)

/** A dead letter is in its mailbox again, as if nobody had been lent it or told of it, and without a time to live. */
export async function updateRetried(tx: Tx, id: number): Promise<boolean> {
  const changed = await tx.change(sql`
    UPDATE deliveries SET ended = NULL, read_at = NULL, hold = NULL, held_until = NULL, attempts = NULL, expires_at = NULL,
      offered_at = NULL, offered_via = NULL, delivered_at = NULL
    WHERE id = ${id} AND ended = 'dead'`)
  if (changed > 0) await tx.change(sql`DELETE FROM announcements WHERE delivery_id = ${id}`)
  return changed > 0
}

export async function updateDropped(tx: Tx, id: number): Promise<boolean> {
  return (await tx.change(sql`UPDATE deliveries SET ended = 'dropped' WHERE id = ${id} AND ended = 'dead'`)) > 0
}

/** Takes `updateDropped` back for all deliveries of a message. */
export const updateUndropped = (tx: Tx, messageId: number): Promise<number> =>
  tx.change(sql`UPDATE deliveries SET ended = 'dead' WHERE message_id = ${messageId} AND ended = 'dropped'`)

/** Takes a delivery out of the mailbox, unread. */
export function updateEnded(tx: Tx, { id, now, ended }: { id: number; now: number; ended: Ending }): void {
  tx.enqueue(sql`
    UPDATE deliveries SET ended = ${ended}, read_at = ${now}, held_until = NULL WHERE id = ${id} AND read_at IS NULL`)
}

/** The notice to an agent counts as told: no route pushes it. */
export async function insertTold(
  tx: Tx,
  { messageId, agentId, now }: { messageId: number; agentId: number; now: number },
): Promise<void> {
  await tx.change(sql`
    INSERT INTO announcements (delivery_id, agent_id, session, via, announced_at, tries, confirmed_at, reminded)
    SELECT d.id, d.recipient_id, '', 'hub', CAST(${now} AS BIGINT), 1, CAST(${now} AS BIGINT), 1 FROM deliveries d
    WHERE d.message_id = ${messageId} AND d.recipient_id = ${agentId} AND ${readTime} IS NULL
    ON CONFLICT (delivery_id) DO NOTHING`)
}
