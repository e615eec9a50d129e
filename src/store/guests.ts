/** Rows of `message_guests`: the projects, besides its thread's own, that may see a message. */
import sql, { join, type Sql } from 'sql-template-tag'
import type { Tx } from '../db/port.ts'

export async function insertGuests(tx: Tx, messageId: number, projectIds: readonly number[]): Promise<void> {
  const rows = projectIds.map((projectId) => sql`(${projectId}, ${messageId})`)
  await tx.all(sql`INSERT INTO message_guests (project_id, message_id) VALUES ${join(rows)}`)
}

/** Whether a project may see the message `m` of the thread `t`. */
export const visibleIn = (projectId: number): Sql => sql`(t.project_id = ${projectId} OR EXISTS (
  SELECT 1 FROM message_guests g WHERE g.message_id = m.id AND g.project_id = ${projectId}))`
