/** The append-only feed of what was committed: wake-ups, projections and the audit log read it. */
import sql, { join } from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export interface Change {
  kind: string
  projectId?: number
  agentId?: number
  threadId?: number
  messageId?: number
  /** The topics of those who wait for this. */
  wakes: readonly string[]
}

export async function insertChanges(tx: Tx, changes: readonly Change[], now: number): Promise<void> {
  const rows = changes.map(
    ({ kind, projectId = null, agentId = null, threadId = null, messageId = null, wakes }) =>
      sql`(${now}, ${kind}, ${projectId}, ${agentId}, ${threadId}, ${messageId}, ${wakes.join(' ')})`,
  )
  await tx.all(
    sql`INSERT INTO changes (at, kind, project_id, agent_id, thread_id, message_id, wakes) VALUES ${join(rows)}`,
  )
}

export async function findLastChange(db: Reader): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(sql`SELECT MAX(id) AS id FROM changes`)
  return row?.id ?? 0
}

/** What was committed after `id`. On SQLite the ids are in the order of the commits: there is one writer at a time. */
export async function listWakesAfter(db: Reader, id: number, limit: number): Promise<{ id: number; wakes: string }[]> {
  return db.all<{ id: number; wakes: string }>(sql`
    SELECT id, wakes FROM changes WHERE id > ${id} ORDER BY id LIMIT ${limit}`)
}
