/** How much mail there is, counted a bounded part at a time: on SQLite nobody else is answered while a query runs. */
import sql from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import { fromInbox, fromOutbox } from './boxes.ts'

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

interface SentPart {
  count: number
  /** How many of them were sent before `time`. */
  old: number
  /** The id of the last one. */
  last: number
}

/** The next `most` messages that an agent sent after the one with this id. */
export async function countSent(
  db: Reader,
  { senderId, after, time, most }: { senderId: number; after: number; time: number; most: number },
): Promise<SentPart> {
  const [row] = await db.all<{ count: number; old: number | null; last: number | null }>(sql`
    SELECT COUNT(*) AS count, SUM(CASE WHEN at < ${time} THEN 1 ELSE 0 END) AS old, MAX(id) AS last
    FROM (${fromOutbox(db, { senderId, above: after })} ORDER BY id LIMIT ${most}) AS part`)
  return { count: Number(row?.count ?? 0), old: Number(row?.old ?? 0), last: row?.last ?? after }
}

/** A message of an inbox: when it was sent, and its id. */
interface InboxEntry {
  readonly at: number
  readonly id: number
}

/** The message `steps` further on in an inbox; undefined if it ends before that. */
export async function findInInbox(
  db: Reader,
  recipientId: number,
  { after, steps }: { after: number; steps: number },
): Promise<InboxEntry | undefined> {
  const [row] = await db.all<InboxEntry>(sql`
    ${fromInbox(db, sql`d.sent_at AS at, d.message_id AS id`, { recipientId, where: sql`AND d.message_id > ${after}` })}
    ORDER BY id LIMIT 1 OFFSET ${steps - 1}`)
  return row
}

/** How many messages of an inbox come after the one with this id, up to `most`. */
export async function countInboxAfter(
  db: Reader,
  { recipientId, after, most }: { recipientId: number; after: number; most: number },
): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM (
      ${fromInbox(db, sql`1 AS one`, { recipientId, where: sql`AND d.message_id > ${after}` })} LIMIT ${most}) AS part`)
  return Number(row?.count ?? 0)
}
