/** Rows of `deliveries`: one message for one recipient, waiting, lent or read. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { forUpdate, listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { isContact } from '../contacts/contacts.ts'
import { anyFree, fromUnread, oldestFree } from '../mail/boxes.ts'

export type DeliveryKind = 'to' | 'cc' | 'bcc'

interface NewDeliveries {
  messageId: number
  to: readonly { readonly id: number; readonly kind: DeliveryKind }[]
  importance?: string
  ackRequired?: boolean
  /** From when on it is not handed out any more. */
  expiresAt?: number | undefined
  now: number
}

/** How a delivery left the mailbox unread: its time was over, it came back too often, or a person dropped it then. */
export type Ending = 'expired' | 'dead' | 'dropped'

/** When a delivery (`d`) was read: one that ended unread has a `read_at` too, by which it is out of every list of unread mail. */
export const readTime = sql`CASE WHEN d.ended IS NULL THEN d.read_at END`

/** `deliveries.urgent`, by which urgent mail is found without a look at its messages. */
export const isUrgent = ({ importance }: { importance?: string }): boolean =>
  importance === 'high' || importance === 'urgent'

export function insertDeliveries(tx: Tx, { messageId, to, ackRequired, now, ...message }: NewDeliveries): void {
  const [urgent, wanted] = [isUrgent(message) ? 1 : 0, ackRequired ? 1 : 0]
  const { expiresAt } = message
  if (expiresAt !== undefined) {
    const rows = to.map(({ id, kind }) => sql`${messageId}, ${id}, ${kind}, ${now}, ${urgent}, ${wanted}, ${expiresAt}`)
    tx.enqueue(sql`
      INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted, expires_at)
      VALUES (${join(rows, '), (')})`)
    return
  }
  const rows = to.map(({ id, kind }) => sql`${messageId}, ${id}, ${kind}, ${now}, ${urgent}, ${wanted}`)
  tx.enqueue(sql`
    INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted) VALUES (${join(rows, '), (')})`)
}

export interface MailRow {
  delivery_id: number
  message_id: number
  uid: string
  client_id: string | null
  sender: string
  sender_project: number
  /** 1 if the sender is a contact of the recipient. */
  contact: number
  subject: string | null
  importance: 'low' | 'normal' | 'high' | 'urgent'
  ack_required: number
  body: string
  created_at: number
  /** Whether the recipient has or had a key. */
  keyed: number
}

export interface Taking {
  recipientId: number
  now: number
  hold: string
  /** When the loan ends; without one the delivery is read at once. */
  heldUntil: number | undefined
}

/** Gives the oldest free delivery to the holder of `hold`: the order is that of insertion, not of timestamps. */
export async function takeDelivery(
  tx: Tx,
  { recipientId, now, hold, heldUntil }: Taking,
): Promise<MailRow | undefined> {
  const [row] = await tx.all<MailRow>(oldestFree(tx, { recipientId, now }))
  if (row === undefined) return undefined
  tx.enqueue(
    heldUntil === undefined
      ? sql`UPDATE deliveries SET hold = ${hold}, held_until = NULL, read_at = ${now}, delivered_at = ${now} WHERE id = ${row.delivery_id}`
      : sql`
        UPDATE deliveries
        SET hold = ${hold}, held_until = ${heldUntil}, read_at = NULL, delivered_at = ${now}, attempts = COALESCE(attempts, 0) + 1
        WHERE id = ${row.delivery_id}`,
  )
  return row
}

/** A message as its recipient takes it, taken or not. */
export async function findMailTo(
  db: Reader,
  { recipientId, messageId, now }: { recipientId: number; messageId: number; now: number },
): Promise<(MailRow & { read_at: number | null }) | undefined> {
  const [row] = await db.all<MailRow & { read_at: number | null }>(sql`
    ${mailTo(recipientId, now)} AND d.message_id = ${messageId}`)
  return row
}

/** The delivery that a take with this hold has given out. */
export async function findHeldDelivery(
  db: Reader,
  { recipientId, hold, now }: Pick<Taking, 'recipientId' | 'hold' | 'now'>,
): Promise<MailRow | undefined> {
  const [row] = await db.all<MailRow>(sql`${mailTo(recipientId, now)} AND d.hold = ${hold}`)
  return row
}

const mailTo = (recipientId: number, now: number): Sql => sql`
  SELECT d.id AS delivery_id, m.id AS message_id, m.uid, m.client_id, s.name AS sender, s.project_id AS sender_project,
    ${isContact({ reader: recipientId, sender: sql`m.sender_id`, now })} AS contact, m.subject, m.importance, m.ack_required, m.body,
    m.created_at, r.keyed, d.read_at
  FROM deliveries d JOIN agents r ON r.id = d.recipient_id JOIN messages m ON m.id = d.message_id
    JOIN agents s ON s.id = m.sender_id
  WHERE d.recipient_id = ${recipientId}`

/** Whether `takeDelivery` would find something now. Asked first by a reader: an empty mailbox then costs no write lock. */
export async function hasFreeDelivery(db: Reader, recipientId: number, now: number): Promise<boolean> {
  const rows = await db.all(anyFree(db, { recipientId, now }))
  return rows.length > 0
}

/** When the first loan of an unread delivery ends, if there is one. */
export async function findNextRelease(db: Reader, recipientId: number, now: number): Promise<number | undefined> {
  const where = sql`AND d.held_until > ${now}`
  const [row] = await db.all<{ at: number | null }>(sql`
    SELECT MIN(held_until) AS at FROM (${fromUnread(db, sql`d.held_until`, { recipientId, where })}) AS waiting`)
  return row?.at ?? undefined
}

export interface HoldRow {
  id: number
  message_id: number
  read_at: number | null
  hold: string | null
}

/** The deliveries of a recipient that go by this name: the sender's own id, or the uid where it gave none. */
export async function listDeliveriesCalled(db: Reader, recipientId: number, called: string): Promise<HoldRow[]> {
  return db.all<HoldRow>(sql`
    SELECT d.id, d.message_id, d.read_at, d.hold FROM deliveries d
    WHERE d.recipient_id = ${recipientId} AND d.message_id IN (
      SELECT m.id FROM client_ids c JOIN messages m ON m.id = c.message_id AND m.client_id = c.client_id
      WHERE c.recipient_id = ${recipientId} AND c.client_id = ${called}
      UNION ALL
      SELECT id FROM messages WHERE uid = ${called} AND client_id IS NULL)
    ORDER BY d.id`)
}

/** The text of these messages went out. */
export async function updateDelivered(
  tx: Tx,
  { recipientId, messageIds, now }: { recipientId: number; messageIds: readonly number[]; now: number },
): Promise<void> {
  await tx.change(sql`
    UPDATE deliveries SET delivered_at = ${now}
    WHERE recipient_id = ${recipientId} AND message_id IN ${listed(tx, messageIds)} AND delivered_at IS NULL`)
}

/** Marks a held delivery as read; returns its state before that, as seen by the holder of `hold`. */
export async function updateRead(
  tx: Tx,
  { id, hold, now }: { id: number; hold: string; now: number },
): Promise<'unread' | 'read' | 'moved on'> {
  const updated = await tx.change(sql`
    UPDATE deliveries SET read_at = ${now}, held_until = NULL WHERE id = ${id} AND hold = ${hold} AND read_at IS NULL`)
  if (updated > 0) return 'unread'
  const same = await tx.all(sql`SELECT 1 FROM deliveries WHERE id = ${id} AND hold = ${hold}`)
  return same.length > 0 ? 'read' : 'moved on'
}

interface ReceiptRow {
  id: number
  read_at: number | null
  acked_at: number | null
  ended: Ending | null
}

export async function findReceipt(
  db: Reader,
  messageId: number,
  recipientId: number,
  { lock = false } = {},
): Promise<ReceiptRow | undefined> {
  const [row] = await db.all<ReceiptRow>(sql`
    SELECT id, read_at, acked_at, ended FROM deliveries WHERE message_id = ${messageId} AND recipient_id = ${recipientId}
    ${lock ? forUpdate(db) : empty}`)
  return row
}

/** Deliveries from one agent to another, in messages of one kind, that wait for an acknowledgement; locked. */
export function listUnconfirmed(
  tx: Tx,
  { recipientId, senderId, kind }: { recipientId: number; senderId: number; kind: string },
): Promise<{ id: number; message_id: number; read_at: number | null }[]> {
  return tx.all(sql`
    SELECT d.id, d.message_id, d.read_at FROM deliveries d
    WHERE d.recipient_id = ${recipientId} AND d.ack_wanted = 1 AND d.acked_at IS NULL AND EXISTS (
      SELECT 1 FROM messages m WHERE m.id = d.message_id AND m.sender_id = ${senderId} AND m.kind = ${kind})
    ORDER BY d.id ${forUpdate(tx)}`)
}

/** A loan of the message ends: the message is read now, also where it had ended unread. */
export function updateReceipt(
  tx: Tx,
  { id, readAt, ackedAt }: { id: number; readAt: number; ackedAt: number | null },
): void {
  tx.enqueue(
    sql`UPDATE deliveries SET read_at = ${readAt}, acked_at = ${ackedAt}, held_until = NULL, ended = NULL WHERE id = ${id}`,
  )
}

/** Returns a delivery as if it had never been taken; false if it has moved on since. */
export async function updateReturned(
  tx: Tx,
  { id, hold, readAt }: { id: number; hold: string; readAt: number | undefined },
): Promise<boolean> {
  const returned = await tx.change(sql`
    UPDATE deliveries SET read_at = NULL, hold = NULL, held_until = NULL, delivered_at = NULL,
      attempts = attempts - ${readAt === undefined ? 1 : 0}
    WHERE id = ${id} AND hold = ${hold} AND COALESCE(read_at, -1) = ${readAt ?? -1}`)
  return returned > 0
}

/** The oldest unread messages of an agent, lent or not. */
export async function listUnreadIds(db: Reader, recipientId: number, limit: number): Promise<number[]> {
  const rows = await db.all<{ message_id: number }>(sql`
    ${fromUnread(db, sql`d.id, d.message_id`, { recipientId })} ORDER BY id LIMIT ${limit}`)
  return rows.map(({ message_id }) => message_id)
}

/** Marks as read those of these messages that the agent was sent and has not read; returns their ids. */
export async function updateAllRead(
  tx: Tx,
  { recipientId, messageIds, now }: { recipientId: number; messageIds: readonly number[]; now: number },
): Promise<number[]> {
  const rows = await tx.all<{ message_id: number }>(sql`
    UPDATE deliveries SET read_at = ${now}, held_until = NULL
    WHERE recipient_id = ${recipientId} AND message_id IN (${join([...messageIds])}) AND read_at IS NULL
    RETURNING message_id`)
  return rows.map(({ message_id }) => message_id).sort((a, b) => a - b)
}

/** Takes back what `updateAllRead` did, at that time if it is given, unless a message was acknowledged since; returns the ids. */
export async function updateAllUnread(
  tx: Tx,
  { recipientId, messageIds, readAt }: { recipientId: number; messageIds: readonly number[]; readAt?: number },
): Promise<number[]> {
  const read = readAt === undefined ? sql`read_at IS NOT NULL AND ended IS NULL` : sql`read_at = ${readAt}`
  const rows = await tx.all<{ message_id: number }>(sql`
    UPDATE deliveries SET read_at = NULL
    WHERE recipient_id = ${recipientId} AND message_id IN (${join([...messageIds])}) AND ${read} AND acked_at IS NULL
    RETURNING message_id`)
  return rows.map(({ message_id }) => message_id).sort((a, b) => a - b)
}

/** Lends an unread delivery that nobody else holds to `hold`, or longer to the one who has it; false if it cannot. */
export async function claimDelivery(
  tx: Tx,
  claim: { recipientId: number; messageId: number; hold: string; now: number; heldUntil: number },
): Promise<boolean> {
  const { recipientId, messageId, hold, now, heldUntil } = claim
  const claimed = await tx.change(sql`
    UPDATE deliveries SET hold = ${hold}, held_until = ${heldUntil}
    WHERE message_id = ${messageId} AND recipient_id = ${recipientId} AND read_at IS NULL
      AND (held_until IS NULL OR held_until <= ${now} OR hold = ${hold}) AND (expires_at IS NULL OR expires_at > ${now})`)
  return claimed > 0
}
