/** The mail of a run: the unread mail of one thread, lent to a fresh agent until its command ends. */
import sql, { type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { findMailTo, type MailRow } from '../messages/deliveries.ts'
import { type HeldWakes, notHeld } from './announcements.ts'
import { fromInbox, fromUnread } from './boxes.ts'

const isFree = (now: number): Sql =>
  sql`(held_until IS NULL OR held_until <= ${now}) AND (expires_at IS NULL OR expires_at > ${now})`

interface Borrowing {
  readonly recipientId: number
  readonly now: number
  readonly hold: string
  readonly heldUntil: number
  readonly limit: number
  readonly held: HeldWakes | undefined
}

/** Lends the free mail of the thread of the oldest message; returns the ids of the deliveries. */
export async function borrowThread(tx: Tx, borrowing: Borrowing): Promise<number[]> {
  const { recipientId, now, hold, heldUntil, limit, held } = borrowing
  const where = sql`AND ${isFree(now)} ${notHeld(tx, held)}`
  const free = fromUnread(tx, sql`d.id, d.message_id`, { recipientId, where })
  const [oldest] = await tx.all<{ thread_id: number }>(sql`
    SELECT m.thread_id FROM (${free} ORDER BY id LIMIT 1) AS oldest JOIN messages m ON m.id = oldest.message_id`)
  if (oldest === undefined) return []
  // Asked again of the row itself: another may have taken it meanwhile.
  const rows = await tx.all<{ id: number }>(sql`
    UPDATE deliveries SET hold = ${hold}, held_until = ${heldUntil}, attempts = COALESCE(attempts, 0) + 1, delivered_at = NULL
    WHERE id IN (
      SELECT waiting.id FROM (${free}) AS waiting JOIN messages m ON m.id = waiting.message_id
      WHERE m.thread_id = ${oldest.thread_id} ORDER BY waiting.id LIMIT ${limit}) AND read_at IS NULL AND ${isFree(now)}
    RETURNING id`)
  return rows.map(({ id }) => id).sort((a, b) => a - b)
}

interface RunRow {
  id: number
  message_id: number
}

/** The deliveries of a run that nobody has confirmed yet. */
export const listOfRun = (db: Reader, recipientId: number, hold: string): Promise<RunRow[]> =>
  db.all<RunRow>(sql`
    ${fromUnread(db, sql`d.id, d.message_id`, { recipientId, where: sql`AND d.hold = ${hold}` })} ORDER BY id`)

/** Whether any mail of an agent was last lent to the run, confirmed or not. */
export async function hasRun(db: Reader, recipientId: number, hold: string): Promise<boolean> {
  const rows = await db.all(sql`${fromInbox(db, sql`1`, { recipientId, where: sql`AND d.hold = ${hold}` })} LIMIT 1`)
  return rows.length > 0
}

const ofRun = (tx: Tx, ids: readonly number[], hold: string): Sql =>
  sql`WHERE id IN ${listed(tx, ids)} AND hold = ${hold} AND read_at IS NULL`

export const updateLoanEnd = (
  tx: Tx,
  { ids, hold, heldUntil }: { ids: readonly number[]; hold: string; heldUntil: number },
): Promise<number> => tx.change(sql`UPDATE deliveries SET held_until = ${heldUntil} ${ofRun(tx, ids, hold)}`)

/** Ends the loan: the mail that was handed out is read, or all is back in the mailbox. `undo`: as if it had never been lent. Returns the messages. */
export async function updateRunEnded(
  tx: Tx,
  { ids, hold, readAt, undo = false }: { ids: readonly number[]; hold: string; readAt?: number; undo?: boolean },
): Promise<number[]> {
  const rows = await tx.all<{ message_id: number }>(
    readAt === undefined
      ? sql`
        UPDATE deliveries SET hold = NULL, held_until = NULL, delivered_at = NULL, attempts = attempts - ${undo ? 1 : 0}
        ${ofRun(tx, ids, hold)} RETURNING message_id`
      : sql`
        UPDATE deliveries SET read_at = ${readAt}, held_until = NULL ${ofRun(tx, ids, hold)} AND delivered_at IS NOT NULL RETURNING message_id`,
  )
  return rows.map(({ message_id }) => message_id).sort((a, b) => a - b)
}

/** Hands out the oldest message of a run that was not handed out in it yet. */
export async function takeOfRun(
  tx: Tx,
  { recipientId, hold, now }: { recipientId: number; hold: string; now: number },
): Promise<MailRow | undefined> {
  const where = sql`AND d.hold = ${hold} AND d.delivered_at IS NULL`
  const [next] = await tx.all<RunRow>(sql`
    ${fromUnread(tx, sql`d.id, d.message_id`, { recipientId, where })} ORDER BY id LIMIT 1`)
  if (next === undefined) return undefined
  const taken = await tx.change(sql`
    UPDATE deliveries SET delivered_at = ${now} ${ofRun(tx, [next.id], hold)} AND delivered_at IS NULL`)
  return taken === 0 ? undefined : findMailTo(tx, { recipientId, messageId: next.message_id, now })
}

/** The answer never reached its client. */
export async function updateUntaken(tx: Tx, { id, hold }: { id: number; hold: string }): Promise<void> {
  await tx.change(sql`UPDATE deliveries SET delivered_at = NULL ${ofRun(tx, [id], hold)}`)
}
