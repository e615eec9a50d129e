/** Rows of `agents`, with the counter of unread deliveries that each carries. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export interface AgentRow {
  id: number
  project_id: number
  name: string
}

export async function findAgent(db: Reader, projectId: number, nameKey: string): Promise<AgentRow | undefined> {
  const rows = await db.all<AgentRow>(sql`
    SELECT id, project_id, name FROM agents WHERE project_id = ${projectId} AND name_key = ${nameKey}`)
  return rows[0]
}

export async function insertAgent(
  tx: Tx,
  { projectId, name, nameKey, now }: { projectId: number; name: string; nameKey: string; now: number },
): Promise<AgentRow> {
  const [row] = await tx.all<AgentRow>(sql`
    INSERT INTO agents (project_id, name, name_key, created_at) VALUES (${projectId}, ${name}, ${nameKey}, ${now})
    RETURNING id, project_id, name`)
  return row as AgentRow
}

/** Counts one more unread delivery, unless the agent has `limit` of them already: then false. */
export async function raiseUnread(tx: Tx, agentId: number, limit: number): Promise<boolean> {
  const rows = await tx.all(sql`
    UPDATE agents SET unread = unread + 1 WHERE id = ${agentId} AND unread < ${limit} RETURNING id`)
  return rows.length > 0
}

export async function updateUnread(tx: Tx, agentId: number, by: 1 | -1): Promise<void> {
  await tx.all(sql`UPDATE agents SET unread = unread + ${by} WHERE id = ${agentId}`)
}

export async function sumUnread(db: Reader): Promise<number> {
  const [row] = await db.all<{ unread: number | null }>(sql`SELECT SUM(unread) AS unread FROM agents`)
  return Number(row?.unread ?? 0)
}
