/** Mail to one of a role: a delivery that may pass from one agent of the role to another until it is read. */
import sql, { join, type Sql } from 'sql-template-tag'
import { listed, skipLocked } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

interface NewShare {
  readonly messageId: number
  readonly agentId: number
  readonly role: string
  readonly among: readonly number[]
  readonly now: number
}

/** The delivery of a message to one agent is shared among these. It is free: the end of its loan says when it was offered. */
export async function insertShared(tx: Tx, { messageId, agentId, role, among, now }: NewShare): Promise<void> {
  const [row] = await tx.all<{ id: number }>(sql`
    UPDATE deliveries SET shared_role = ${role}, held_until = ${now} WHERE message_id = ${messageId} AND recipient_id = ${agentId} RETURNING id`)
  if (row === undefined) return
  const rows = among.map((id) => sql`(${id}, ${row.id})`)
  await tx.change(sql`INSERT INTO shared_mail (agent_id, delivery_id) VALUES ${join(rows)}`)
}

/** Whether any mail is shared at all. */
export async function hasShared(db: Reader): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 FROM shared_mail LIMIT 1`)
  return rows.length > 0
}

export interface SharedRow {
  id: number
  message_id: number
  thread_id: number
  recipient_id: number
  project_id: number
  held_until: number | null
}

const free = (now: number) =>
  sql`d.read_at IS NULL AND d.ended IS NULL AND (d.expires_at IS NULL OR d.expires_at > ${now}) AND (d.held_until IS NULL OR d.held_until <= ${now})`

const sharedColumns = sql`d.id, d.message_id, m.thread_id, d.recipient_id,
  (SELECT a.project_id FROM agents a WHERE a.id = d.recipient_id) AS project_id, d.held_until`

interface SharedQuery {
  readonly agentId: number
  readonly now: number
  readonly limit: number
}

const sharedWith = ({ agentId, now, limit }: SharedQuery): Sql => sql`
  SELECT ${sharedColumns}
  FROM shared_mail s JOIN deliveries d ON d.id = s.delivery_id JOIN messages m ON m.id = d.message_id
  WHERE s.agent_id = ${agentId} AND ${free(now)} ORDER BY d.id LIMIT ${limit}`

/** Shared mail that an agent may take now, the oldest first; whoever holds it has let the time pass. */
export const listSharedWith = (db: Reader, query: SharedQuery): Promise<SharedRow[]> =>
  db.all<SharedRow>(sharedWith(query))

/** The same, their rows locked: of two who take at once, the second finds nothing. */
export const lockSharedWith = (tx: Tx, query: SharedQuery): Promise<SharedRow[]> =>
  tx.all<SharedRow>(sql`${sharedWith(query)} ${skipLocked(tx, 'd')}`)

/** When the next shared message of an agent comes back, if nobody reads it before. */
export async function findSharedRelease(db: Reader, agentId: number, now: number): Promise<number | undefined> {
  const [row] = await db.all<{ at: number | null }>(sql`
    SELECT MIN(d.held_until) AS at FROM shared_mail s JOIN deliveries d ON d.id = s.delivery_id
    WHERE s.agent_id = ${agentId} AND d.read_at IS NULL AND d.held_until > ${now}`)
  return row?.at ?? undefined
}

interface Lapsing {
  readonly now: number
  /** Offered for the first time before this, and fetched by nobody. */
  readonly offeredBefore: number
}

const hasLapsedBy = ({ now, offeredBefore }: Lapsing): Sql => sql`
  d.id IN (SELECT delivery_id FROM shared_mail) AND d.read_at IS NULL AND d.ended IS NULL AND d.held_until <= ${now}
  AND (d.hold IS NOT NULL OR d.held_until <= ${offeredBefore})`

/** Shared mail whose holder has let the time pass, the oldest first, locked. */
export const lockLapsed = (tx: Tx, { limit, ...lapsing }: Lapsing & { limit: number }): Promise<SharedRow[]> =>
  tx.all<SharedRow>(sql`
    SELECT ${sharedColumns} FROM deliveries d JOIN messages m ON m.id = d.message_id WHERE ${hasLapsedBy(lapsing)}
    ORDER BY d.id LIMIT ${limit} ${skipLocked(tx, 'd')}`)

/** Whether some shared mail has come back. Asked by a reader: nearly always there is none. */
export async function hasLapsed(db: Reader, lapsing: Lapsing): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 FROM deliveries d WHERE ${hasLapsedBy(lapsing)} LIMIT 1`)
  return rows.length > 0
}

/** Of those that were held, the ones that have come back so often. */
export const listWornShared = (
  db: Reader,
  { attempts, ...lapsing }: Lapsing & { attempts: number },
): Promise<{ message_id: number; recipient_id: number }[]> =>
  db.all(sql`
    SELECT d.message_id, d.recipient_id FROM deliveries d
    WHERE ${hasLapsedBy(lapsing)} AND d.hold IS NOT NULL AND d.attempts >= ${attempts}`)

export async function listSharers(db: Reader, deliveryId: number): Promise<number[]> {
  const rows = await db.all<{ agent_id: number }>(
    sql`SELECT agent_id FROM shared_mail WHERE delivery_id = ${deliveryId} ORDER BY agent_id`,
  )
  return rows.map(({ agent_id }) => agent_id)
}

/** Passes a delivery on, with the sender's own name for the message. Nobody was told of it yet. */
export async function updateShared(
  tx: Tx,
  { id, message_id, recipient_id }: SharedRow,
  { agentId, hold, heldUntil }: { agentId: number; hold: string | null; heldUntil: number | null },
): Promise<void> {
  await tx.change(sql`
    UPDATE deliveries SET recipient_id = ${agentId}, hold = ${hold}, held_until = ${heldUntil},
      attempts = ${hold === null ? sql`attempts` : sql`COALESCE(attempts, 0) + 1`} WHERE id = ${id}`)
  if (agentId === recipient_id) return
  await tx.change(sql`
    UPDATE deliveries SET offered_at = NULL, offered_via = NULL, delivered_at = NULL WHERE id = ${id}`)
  await tx.change(sql`
    UPDATE client_ids SET recipient_id = ${agentId} WHERE message_id = ${message_id} AND recipient_id = ${recipient_id} AND NOT EXISTS (
      SELECT 1 FROM client_ids o
      WHERE o.recipient_id = ${agentId} AND o.client_id = client_ids.client_id AND o.sender_id = client_ids.sender_id)`)
  await tx.change(sql`DELETE FROM announcements WHERE delivery_id = ${id}`)
}

/** Gives back messages that an answer had no room for, as if nobody had held them. */
export async function releaseShared(tx: Tx, agentId: number, messageIds: readonly number[]): Promise<void> {
  await tx.change(sql`
    UPDATE deliveries SET hold = NULL, held_until = NULL, attempts = attempts - 1
    WHERE recipient_id = ${agentId} AND message_id IN ${listed(tx, messageIds)} AND shared_role IS NOT NULL AND read_at IS NULL`)
}

/** Mail that was read is shared with nobody any more. */
export async function deleteSettledShares(tx: Tx, agentId: number): Promise<void> {
  await tx.change(sql`
    DELETE FROM shared_mail WHERE delivery_id IN (
      SELECT s.delivery_id FROM shared_mail s JOIN deliveries d ON d.id = s.delivery_id
      WHERE s.agent_id = ${agentId} AND d.read_at IS NOT NULL)`)
}
