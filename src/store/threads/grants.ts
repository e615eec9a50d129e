/** Rows of `grants`: threads that an agent may look into, or write to, though it has no part in them. */
import sql, { empty } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

export type Right = 'read' | 'write'

interface NewGrant {
  uid: string
  threadId: number
  agentId: number
  /** The agent whose view of the thread is shared; undefined for all of it. */
  granterId: number | undefined
  can: Right
  now: number
  expiresAt: number
}

export async function insertGrant(tx: Tx, grant: NewGrant): Promise<void> {
  const { uid, threadId, agentId, granterId, can, now, expiresAt } = grant
  await tx.all(sql`
    INSERT INTO grants (uid, thread_id, agent_id, granter_id, can, created_at, expires_at)
    VALUES (${uid}, ${threadId}, ${agentId}, ${granterId ?? null}, ${can}, ${now}, ${expiresAt})`)
}

export async function deleteExpiredGrants(tx: Tx, now: number): Promise<void> {
  await tx.all(sql`DELETE FROM grants WHERE expires_at <= ${now}`)
}

/** Granters of an agent's view of a thread: null for the operator, who shares all of it. */
export function listGranters(
  db: Reader,
  { threadId, agentId, now }: { threadId: number; agentId: number; now: number },
): Promise<{ granter_id: number | null; can: Right }[]> {
  return db.all(sql`
    SELECT granter_id, can FROM grants
    WHERE thread_id = ${threadId} AND agent_id = ${agentId} AND expires_at > ${now}`)
}

interface GrantRow {
  id: number
  uid: string
  thread_id: number
  agent_id: number
  granter_id: number | null
  can: Right
  agent: string
  agent_project: number
  granter: string | null
  granter_project: number | null
  created_at: number
  expires_at: number
}

interface GrantsWish {
  agentId: number | undefined
  projectId: number
  now: number
  /** Only grants with a lower id. */
  before?: number | undefined
  limit: number
}

/** Grants that an agent gave or got, the newest first; those of the whole project, if no agent is named. */
export function listGrants(db: Reader, { agentId, projectId, now, before, limit }: GrantsWish): Promise<GrantRow[]> {
  const whose =
    agentId === undefined
      ? sql`t.project_id = ${projectId}`
      : sql`(g.agent_id = ${agentId} OR g.granter_id = ${agentId})`
  return db.all<GrantRow>(sql`
    SELECT g.id, g.uid, g.thread_id, g.agent_id, g.granter_id, g.can, a.name AS agent, a.project_id AS agent_project,
      b.name AS granter, b.project_id AS granter_project, g.created_at, g.expires_at
    FROM grants g JOIN threads t ON t.id = g.thread_id JOIN agents a ON a.id = g.agent_id
      LEFT JOIN agents b ON b.id = g.granter_id
    WHERE ${whose} AND g.expires_at > ${now} ${before === undefined ? empty : sql`AND g.id < ${before}`}
    ORDER BY g.id DESC LIMIT ${limit}`)
}

/** Undefined if the agent has given none of this id; the operator, who names none, takes back any. */
export async function deleteGrant(
  tx: Tx,
  uid: string,
  granterId: number | undefined,
): Promise<{ thread_id: number; agent_id: number } | undefined> {
  const whose = granterId === undefined ? empty : sql`AND granter_id = ${granterId}`
  const [row] = await tx.all<{ thread_id: number; agent_id: number }>(
    sql`DELETE FROM grants WHERE uid = ${uid} ${whose} RETURNING thread_id, agent_id`,
  )
  return row
}
