/** The messages of a thread for readers without a cursor: from any place, forward or back. */
import sql, { empty } from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import type { ThreadMessageRow } from '../messages/messages.ts'

export interface EntryRow extends ThreadMessageRow {
  /** The place in the thread of the message that this one answers. */
  reply_seq: number | null
}

/** The messages after the place `after`, up to `through` if that is given, in the order of the thread. */
export function listEntries(
  db: Reader,
  { threadId, after, through }: { threadId: number; after: number; through?: number | undefined },
  limit: number,
): Promise<EntryRow[]> {
  return db.all<EntryRow>(sql`
    SELECT m.id, m.uid, m.seq, a.name AS sender, m.kind, r.uid AS reply_to, r.seq AS reply_seq, m.body, m.metadata,
      m.client_id, m.created_at
    FROM messages m JOIN agents a ON a.id = m.sender_id LEFT JOIN messages r ON r.id = m.reply_to
    WHERE m.thread_id = ${threadId} AND m.seq > ${after} ${through === undefined ? empty : sql`AND m.seq <= ${through}`}
    ORDER BY m.seq LIMIT ${limit}`)
}

/** The `seq` after which the last `count` messages before `before` begin. */
export async function findStartSeq(
  db: Reader,
  { threadId, before, count }: { threadId: number; before: number; count: number },
): Promise<number> {
  const [row] = await db.all<{ seq: number | null }>(sql`
    SELECT MIN(seq) AS seq FROM (
      SELECT seq FROM messages WHERE thread_id = ${threadId} AND seq < ${before} ORDER BY seq DESC LIMIT ${count}
    ) AS last`)
  return (row?.seq ?? 1) - 1
}
