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

/** A place in an order by time: behind the row with this time and id. */
export interface Place {
  readonly at: number
  readonly id: number
}

export const start: Place = { at: -1, id: 0 }

export interface SentPart {
  count: number
  /** How many of them were sent before `time`. */
  old: number
  last: Place
}

/** The next `most` messages that an agent sent after a place. */
export async function countSent(
  db: Reader,
  { senderId, after, time, most }: { senderId: number; after: Place; time: number; most: number },
): Promise<SentPart> {
  const [row] = await db.all<{ count: number; old: number; created_at: number; id: number }>(sql`
    WITH part AS MATERIALIZED (
      SELECT created_at, id, CASE WHEN created_at < ${time} THEN 1 ELSE 0 END AS old FROM messages
      WHERE sender_id = ${senderId} AND mail = 1 AND (created_at, id) > (${after.at}, ${after.id}) ORDER BY created_at, id LIMIT ${most})
    SELECT (SELECT COUNT(*) FROM part) AS count, (SELECT SUM(old) FROM part) AS old, created_at, id
    FROM part ORDER BY created_at DESC, id DESC LIMIT 1`)
  if (row === undefined) return { count: 0, old: 0, last: after }
  return { count: Number(row.count), old: Number(row.old), last: { at: row.created_at, id: row.id } }
}

/** The message `steps` further on in an inbox; undefined if it ends before that. */
export async function findInboxPlace(
  db: Reader,
  recipientId: number,
  { after, steps }: { after: number; steps: number },
): Promise<Place | undefined> {
  const [row] = await db.all<Place>(sql`
    SELECT sent_at AS at, message_id AS id FROM deliveries
    WHERE recipient_id = ${recipientId} AND message_id > ${after} ORDER BY message_id LIMIT 1 OFFSET ${steps - 1}`)
  return row
}

/** How many messages of an inbox come after the one with this id, up to `most`. */
export async function countInboxAfter(
  db: Reader,
  { recipientId, after, most }: { recipientId: number; after: number; most: number },
): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM (
      SELECT 1 AS one FROM deliveries
      WHERE recipient_id = ${recipientId} AND message_id > ${after} LIMIT ${most}) AS part`)
  return Number(row?.count ?? 0)
}
