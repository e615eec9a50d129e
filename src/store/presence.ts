/** Rows of `presence` and `presence_nodes`: the agents that wait at each node, and until when the node counts as alive. */
import sql, { join } from 'sql-template-tag'
import { listed } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

export interface PresenceRow {
  agent_id: number
  kind: 'call' | 'waiter'
  /** Of a waiter: the client's own session; empty for calls. */
  session: string
  /** Of a waiter: its adapter. */
  via: string
  since: number
}

/** The waiters of all nodes but one that are alive. */
export function listPresence(
  db: Reader,
  { except, now }: { except: string; now: number },
): Promise<(PresenceRow & { expires_at: number })[]> {
  return db.all(sql`
    SELECT p.agent_id, p.kind, p.session, p.via, p.since, n.expires_at
    FROM presence_nodes n JOIN presence p ON p.node = n.node WHERE n.expires_at > ${now} AND n.node <> ${except}`)
}

/** Says that a node is alive until then. */
export async function upsertNode(tx: Tx, node: string, expiresAt: number): Promise<void> {
  await tx.change(sql`
    INSERT INTO presence_nodes (node, expires_at) VALUES (${node}, ${expiresAt})
    ON CONFLICT (node) DO UPDATE SET expires_at = ${expiresAt}`)
}

/** Adds and removes waiters of a node; a row that is there already is replaced. */
export async function updatePresence(
  tx: Tx,
  node: string,
  { came, left }: { came: readonly PresenceRow[]; left: readonly PresenceRow[] },
): Promise<void> {
  for (const { agent_id, kind, session } of left)
    await tx.change(sql`
      DELETE FROM presence WHERE node = ${node} AND agent_id = ${agent_id} AND kind = ${kind} AND session = ${session}`)
  for (let at = 0; at < came.length; at += rowsPerStatement) {
    const rows = came
      .slice(at, at + rowsPerStatement)
      .map(
        ({ agent_id, kind, session, via, since }) => sql`${node}, ${agent_id}, ${kind}, ${session}, ${via}, ${since}`,
      )
    await tx.change(sql`
      INSERT INTO presence (node, agent_id, kind, session, via, since) VALUES (${join(rows, '), (')})
      ON CONFLICT (node, agent_id, kind, session) DO UPDATE SET via = excluded.via, since = excluded.since`)
  }
}

const rowsPerStatement = 500

/** A node that is gone, and those that were not heard of in time. */
export async function deleteNodes(tx: Tx, { node, before }: { node?: string; before: number }): Promise<void> {
  const gone = sql`SELECT node FROM presence_nodes WHERE expires_at < ${before} OR node = ${node ?? ''}`
  await tx.change(sql`DELETE FROM presence WHERE node IN (${gone})`)
  await tx.change(sql`DELETE FROM presence_nodes WHERE expires_at < ${before} OR node = ${node ?? ''}`)
}

/** The projects of agents. */
export async function listProjectsOf(db: Reader, agentIds: readonly number[]): Promise<number[]> {
  const rows = await db.all<{ project_id: number }>(
    sql`SELECT DISTINCT project_id FROM agents WHERE id IN ${listed(db, agentIds)}`,
  )
  return rows.map(({ project_id }) => project_id)
}
