/** The ids that senders gave to their messages: what a retry, and an answer, are recognised by. */
import { hash } from 'node:crypto'
import sql, { join } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

/** The name of a message between agents: its sender, its recipients, the sender's own id. */
export interface ClientId {
  senderId: number
  recipientIds: readonly number[]
  clientId: string
}

interface NewClientId {
  senderId: number
  to: readonly { readonly id: number }[]
  called: string
  /** Of other words under an id that is used. */
  bodyHash: string | undefined
  messageId: number
}

export function insertClientIds(tx: Tx, { senderId, to, called, bodyHash, messageId }: NewClientId): void {
  tx.enqueue(
    bodyHash === undefined
      ? sql`
        INSERT INTO client_ids (recipient_id, client_id, sender_id, message_id)
        VALUES ${join(to.map(({ id }) => sql`(${id}, ${called}, ${senderId}, ${messageId})`))}`
      : sql`
        INSERT INTO repeated_ids (recipient_id, client_id, sender_id, digest, message_id)
        VALUES ${join(to.map(({ id }) => sql`(${id}, ${called}, ${senderId}, ${bodyHash}, ${messageId})`))}`,
  )
}

export interface NamedRow {
  id: number
  thread_id: number
  /** Whether it has these words. */
  same: number
}

/** The first message that the sender has sent under this name to any of the recipients. */
export async function findByClientId(
  db: Reader,
  { senderId, recipientIds, clientId }: ClientId,
  body: string,
): Promise<NamedRow | undefined> {
  const [row] = await db.all<NamedRow>(sql`
    SELECT m.id, m.thread_id, CASE WHEN m.body = ${body} THEN 1 ELSE 0 END AS same
    FROM client_ids c JOIN messages m ON m.id = c.message_id
    WHERE c.recipient_id IN (${join([...recipientIds])}) AND c.client_id = ${clientId} AND c.sender_id = ${senderId}
    ORDER BY m.id LIMIT 1`)
  return row
}

/** A later one under this name, with these words. */
export async function findRepeated(
  db: Reader,
  { senderId, recipientIds, clientId }: ClientId,
  body: string,
): Promise<{ id: number } | undefined> {
  const [row] = await db.all<{ id: number }>(sql`
    SELECT message_id AS id FROM repeated_ids
    WHERE recipient_id IN (${join([...recipientIds])}) AND client_id = ${clientId} AND sender_id = ${senderId}
      AND digest = ${bodyHashOf(body)}
    ORDER BY message_id LIMIT 1`)
  return row
}

/** 128 bits: of one sender's words under one of its ids no two have the same. */
export const bodyHashOf = (body: string): string => hash('sha256', body, 'base64url').slice(0, 22)

interface Received {
  senderId: number
  recipientId: number
  called: string
  /** Whether it may be the number that some doors show. */
  numbers: boolean
}

/** The message that one agent has sent to another and that goes by this id: the sender's own, else the uid, else the number. */
export async function findReceived(
  db: Reader,
  { senderId, recipientId, called, numbers }: Received,
): Promise<number | undefined> {
  const number = numbers && /^[1-9]\d{0,14}$/.test(called) ? Number(called) : 0
  const [row] = await db.all<{ id: number }>(sql`
    SELECT m.id FROM (
      SELECT message_id AS id, 1 AS rank FROM client_ids
      WHERE recipient_id = ${recipientId} AND client_id = ${called} AND sender_id = ${senderId}
      UNION ALL SELECT id, 2 AS rank FROM messages WHERE uid = ${called}
      UNION ALL SELECT id, 3 AS rank FROM messages WHERE id = ${number}) AS found
    JOIN messages m ON m.id = found.id JOIN deliveries d ON d.message_id = m.id AND d.recipient_id = ${recipientId}
    WHERE m.sender_id = ${senderId} ORDER BY found.rank LIMIT 1`)
  return row?.id
}
