/** How much mail there is, counted a bounded part at a time: on SQLite nobody else is answered while a query runs. */
import sql from 'sql-template-tag'
import type { Reader } from '../db/port.ts'

export interface InboxOwnerRow {
  id: number
  name: string
  name_key: string
  unread: number
}

/** The agents of a project in the order of their names, those after `after`. */
export function listInboxOwners(
  db: Reader,
  projectId: number,
  { after, limit }: { after: string; limit: number },
): Promise<InboxOwnerRow[]> {
  return db.all<InboxOwnerRow>(sql`
    SELECT id, name, name_key, unread FROM agents WHERE project_id = ${projectId} AND name_key > ${after}
    ORDER BY name_key LIMIT ${limit}`)
}

export async function findLastMessage(db: Reader): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(sql`SELECT MAX(id) AS id FROM messages`)
  return row?.id ?? 0
}

/** The message with this id, else the next one. */
export async function findMessageFrom(db: Reader, id: number): Promise<{ id: number; created_at: number } | undefined> {
  const [row] = await db.all<{ id: number; created_at: number }>(sql`
    SELECT id, created_at FROM messages WHERE id >= ${id} ORDER BY id LIMIT 1`)
  return row
}

export interface SentPart {
  count: number
  /** How many of them have an id of at most `lastOld`. */
  old: number
  last: number
}

/** Of what an agent sent, the next `most` messages after the one with the id `after`. */
export async function countSent(
  db: Reader,
  { senderId, after, lastOld, most }: { senderId: number; after: number; lastOld: number; most: number },
): Promise<SentPart> {
  const [row] = await db.all<{ count: number; old: number | null; last: number | null }>(sql`
    SELECT COUNT(*) AS count, SUM(CASE WHEN id <= ${lastOld} THEN 1 ELSE 0 END) AS old, MAX(id) AS last FROM (
      SELECT id FROM messages WHERE sender_id = ${senderId} AND id > ${after} ORDER BY id LIMIT ${most}) AS part`)
  return { count: Number(row?.count ?? 0), old: Number(row?.old ?? 0), last: row?.last ?? after }
}

/** A place in an inbox: behind the delivery with this time and id. */
export interface InboxPlace {
  readonly sentAt: number
  readonly id: number
}

export const inboxStart: InboxPlace = { sentAt: -1, id: 0 }

/** Where an inbox is `steps` deliveries further on; undefined if it ends before that. */
export async function findInboxPlace(
  db: Reader,
  recipientId: number,
  { after, steps }: { after: InboxPlace; steps: number },
): Promise<InboxPlace | undefined> {
  const [row] = await db.all<{ sent_at: number; id: number }>(sql`
    SELECT sent_at, id FROM deliveries
    WHERE recipient_id = ${recipientId} AND (sent_at, id) > (${after.sentAt}, ${after.id})
    ORDER BY sent_at, id LIMIT 1 OFFSET ${steps - 1}`)
  return row && { sentAt: row.sent_at, id: row.id }
}

/** How many deliveries come after a place, up to `most`. */
export async function countInboxAfter(
  db: Reader,
  { recipientId, after, most }: { recipientId: number; after: InboxPlace; most: number },
): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM (
      SELECT 1 AS one FROM deliveries
      WHERE recipient_id = ${recipientId} AND (sent_at, id) > (${after.sentAt}, ${after.id}) LIMIT ${most}) AS part`)
  return Number(row?.count ?? 0)
}
