/** Rows of `message_guests`: the projects, besides its thread's own, that may see a message. */
import sql, { join } from 'sql-template-tag'
import type { Tx } from '../../db/port.ts'

export function insertGuests(
  tx: Tx,
  { threadId, messageId, projectIds }: { threadId: number; messageId: number; projectIds: readonly number[] },
): void {
  const rows = projectIds.map((projectId) => sql`(${projectId}, ${threadId}, ${messageId})`)
  tx.enqueue(sql`INSERT INTO message_guests (project_id, thread_id, message_id) VALUES ${join(rows)}`)
}
