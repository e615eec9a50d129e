/** Rows of `agent_keys`: which agent a key belongs to. Only hashes are stored. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export interface NewKey {
  hash: string
  agentId: number
  now: number
}

/** From now on the agent is its owner's, whatever becomes of this key. */
export async function insertKey(tx: Tx, { hash, agentId, now }: NewKey): Promise<void> {
  await tx.all(sql`INSERT INTO agent_keys (hash, agent_id, created_at) VALUES (${hash}, ${agentId}, ${now})`)
  await tx.all(sql`UPDATE agents SET keyed = 1 WHERE id = ${agentId}`)
}

/** The agent whose key has this hash, unless the key was revoked. */
export async function findKeyHolder(db: Reader, hash: string): Promise<{ id: number; project_id: number } | undefined> {
  const [row] = await db.all<{ id: number; project_id: number }>(sql`
    SELECT a.id, a.project_id FROM agent_keys k JOIN agents a ON a.id = k.agent_id
    WHERE k.hash = ${hash} AND k.revoked_at IS NULL`)
  return row
}
