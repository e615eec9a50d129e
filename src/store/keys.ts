/** Rows of `agent_keys`: the agent that each key belongs to. Only hashes are stored. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

/** Makes an agent its owner's, for good; false if it was already. */
export async function updateKeyed(tx: Tx, agentId: number): Promise<boolean> {
  const rows = await tx.all(sql`UPDATE agents SET keyed = 1 WHERE id = ${agentId} AND keyed = 0 RETURNING id`)
  return rows.length > 0
}

export async function insertKey(
  tx: Tx,
  { hash, agentId, now }: { hash: string; agentId: number; now: number },
): Promise<void> {
  await tx.all(sql`INSERT INTO agent_keys (hash, agent_id, created_at) VALUES (${hash}, ${agentId}, ${now})`)
}

/** The agent whose key has this hash. */
export async function findKeyHolder(db: Reader, hash: string): Promise<{ id: number; project_id: number } | undefined> {
  const [row] = await db.all<{ id: number; project_id: number }>(sql`
    SELECT a.id, a.project_id FROM agent_keys k JOIN agents a ON a.id = k.agent_id WHERE k.hash = ${hash}`)
  return row
}
