/** Rows of `bridge_grants`: servers of others that an agent may call. */
import sql, { empty } from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

interface NewBridgeGrant {
  uid: string
  agentId: number
  server: string
  now: number
  expiresAt: number
}

/** Expired grants are deleted here: no job does it. */
export async function insertBridgeGrant(
  tx: Tx,
  { uid, agentId, server, now, expiresAt }: NewBridgeGrant,
): Promise<void> {
  await tx.all(sql`DELETE FROM bridge_grants WHERE expires_at <= ${now}`)
  await tx.all(sql`
    INSERT INTO bridge_grants (uid, agent_id, server, created_at, expires_at)
    VALUES (${uid}, ${agentId}, ${server}, ${now}, ${expiresAt})`)
}

export async function listGrantedServers(db: Reader, agentId: number, now: number): Promise<string[]> {
  const rows = await db.all<{ server: string }>(sql`
    SELECT DISTINCT server FROM bridge_grants WHERE agent_id = ${agentId} AND expires_at > ${now} ORDER BY server`)
  return rows.map(({ server }) => server)
}

interface RemoteToolGrantRow {
  id: number
  uid: string
  server: string
  agent: string
  agent_project: number
  created_at: number
  expires_at: number
}

/** Of one agent, or of everybody; the newest first. */
export const listBridgeGrants = (
  db: Reader,
  {
    agentId,
    now,
    before,
    limit,
  }: { agentId: number | undefined; now: number; before?: number | undefined; limit: number },
): Promise<RemoteToolGrantRow[]> =>
  db.all<RemoteToolGrantRow>(sql`
    SELECT g.id, g.uid, g.server, a.name AS agent, a.project_id AS agent_project, g.created_at, g.expires_at
    FROM bridge_grants g JOIN agents a ON a.id = g.agent_id
    WHERE g.expires_at > ${now} AND (${agentId === undefined ? 1 : 0} = 1 OR g.agent_id = ${agentId ?? 0})
      ${before === undefined ? empty : sql`AND g.id < ${before}`}
    ORDER BY g.id DESC LIMIT ${limit}`)

export async function deleteBridgeGrant(tx: Tx, uid: string): Promise<{ agent_id: number } | undefined> {
  const [row] = await tx.all<{ agent_id: number }>(sql`DELETE FROM bridge_grants WHERE uid = ${uid} RETURNING agent_id`)
  return row
}
