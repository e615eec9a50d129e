/** Rows of `agent_keys`: the agent that each key belongs to. Only hashes are stored. */
import sql, { empty } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

/** Makes an agent its owner's, for good; false if it was already. */
export async function updateKeyed(tx: Tx, agentId: number): Promise<boolean> {
  const rows = await tx.all(sql`UPDATE agents SET keyed = 1 WHERE id = ${agentId} AND keyed = 0 RETURNING id`)
  return rows.length > 0
}

/** Makes an agent its owner's, and keeps others from giving it a key until the transaction ends; answers whether it has one. */
export async function lockKeyed(tx: Tx, agentId: number): Promise<boolean> {
  await tx.all(sql`UPDATE agents SET keyed = 1 WHERE id = ${agentId}`)
  return hasKey(tx, agentId)
}

export async function hasKey(db: Reader, agentId: number): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 AS one FROM agent_keys WHERE agent_id = ${agentId} LIMIT 1`)
  return rows.length > 0
}

export async function insertKey(
  tx: Tx,
  { hash, prefix, agentId, now }: { hash: string; prefix: string; agentId: number; now: number },
): Promise<void> {
  await tx.all(sql`
    INSERT INTO agent_keys (hash, prefix, agent_id, created_at) VALUES (${hash}, ${prefix}, ${agentId}, ${now})`)
}

export interface KeyRow {
  agent: string
  project: string
  /** How it begins; of keys made by an older Parley nobody knows. */
  prefix: string | null
  created_at: number
}

/** The newest first. */
export function listKeys(
  db: Reader,
  { agentId, limit }: { agentId: number | undefined; limit: number },
): Promise<KeyRow[]> {
  return db.all<KeyRow>(sql`
    SELECT a.name AS agent, p.slug AS project, k.prefix, k.created_at
    FROM agent_keys k JOIN agents a ON a.id = k.agent_id JOIN projects p ON p.id = a.project_id
    ${agentId === undefined ? empty : sql`WHERE k.agent_id = ${agentId}`}
    ORDER BY k.created_at DESC, k.hash LIMIT ${limit}`)
}

/** Ends the keys of an agent, or those that begin in this way; returns how many. */
export function deleteKeys(tx: Tx, agentId: number, prefix?: string): Promise<number> {
  const which = prefix === undefined ? empty : sql`AND prefix = ${prefix}`
  return tx.change(sql`DELETE FROM agent_keys WHERE agent_id = ${agentId} ${which}`)
}

/** The agent whose key has this hash. */
export async function findKeyHolder(db: Reader, hash: string): Promise<{ id: number; project_id: number } | undefined> {
  const [row] = await db.all<{ id: number; project_id: number }>(sql`
    SELECT a.id, a.project_id FROM agent_keys k JOIN agents a ON a.id = k.agent_id WHERE k.hash = ${hash}`)
  return row
}
