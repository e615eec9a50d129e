/** Arrivals: the mail that came for an agent after a place in its inbox, as it is announced. */
import sql from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import { fromInbox } from './boxes.ts'
import { automaticKind, noticeKind, subjectFor } from './conversations.ts'

/** The newest message of an inbox. */
export async function findNewestOf(db: Reader, recipientId: number): Promise<number> {
  const [row] = await db.all<{ message_id: number }>(sql`
    ${fromInbox(db, sql`d.message_id`, { recipientId })} ORDER BY message_id DESC LIMIT 1`)
  return row?.message_id ?? 0
}

interface ArrivalRow {
  id: number
  uid: string
  thread_uid: string
  subject: string
  sender: string
  sender_project: number
  automatic: number
  /** A notice of the hub: it wakes nobody. */
  notice: number
  body: string
  created_at: number
}

/** For one recipient the order of the ids is that of the commits: whoever reads on from the last one misses nothing. */
export function listArrivals(
  db: Reader,
  { recipientId, after, limit }: { recipientId: number; after: number; limit: number },
): Promise<ArrivalRow[]> {
  const part = fromInbox(db, sql`d.message_id`, { recipientId, where: sql`AND d.message_id > ${after}` })
  return db.all<ArrivalRow>(sql`
    SELECT m.id, m.uid, t.uid AS thread_uid, ${subjectFor(recipientId)} AS subject, s.name AS sender,
      s.project_id AS sender_project, CASE WHEN m.kind = ${automaticKind} THEN 1 ELSE 0 END AS automatic,
      CASE WHEN m.kind = ${noticeKind} THEN 1 ELSE 0 END AS notice, m.body, m.created_at
    FROM (${part} ORDER BY message_id LIMIT ${limit}) AS part JOIN messages m ON m.id = part.message_id
      JOIN threads t ON t.id = m.thread_id JOIN agents s ON s.id = m.sender_id
    ORDER BY m.id`)
}
