/** Unread messages of an agent with their threads, the oldest first: for clients that take care of them one by one. */
import sql from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import { fromUnread } from './boxes.ts'
import { subjectFor } from './conversations.ts'

export interface UnreadMessageRow {
  id: number
  bytes: number
  thread_uid: string
  subject: string
}

/** `after` is the id of a delivery. */
export function listUnreadMessages(
  db: Reader,
  { agentId, after, limit }: { agentId: number; after: number; limit: number },
): Promise<UnreadMessageRow[]> {
  return db.all<UnreadMessageRow>(sql`
    SELECT m.id, octet_length(m.body) AS bytes, t.uid AS thread_uid, ${subjectFor(agentId)} AS subject
    FROM (${fromUnread(db, sql`d.id, d.message_id`, { recipientId: agentId, where: sql`AND d.id > ${after}` })}
      ORDER BY id LIMIT ${limit}) AS waiting
    JOIN messages m ON m.id = waiting.message_id JOIN threads t ON t.id = m.thread_id ORDER BY waiting.id`)
}
