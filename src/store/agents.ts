/** Rows of `agents`, with the counter of unread deliveries that each carries. */
import sql, { empty, join } from 'sql-template-tag'
import { forUpdate } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

export interface AgentRow {
  id: number
  project_id: number
  name: string
  /** Whether it has or had a key. */
  keyed: number
}

export async function findAgent(db: Reader, projectId: number, nameKey: string): Promise<AgentRow | undefined> {
  const rows = await db.all<AgentRow>(sql`
    SELECT id, project_id, name, keyed FROM agents WHERE project_id = ${projectId} AND name_key = ${nameKey}`)
  return rows[0]
}

/** The projects that have an agent of this name; `seen` leaves out those that never did anything. */
export async function listHomes(
  db: Reader,
  { nameKey, only, seen = false, limit }: { nameKey: string; only?: number | undefined; seen?: boolean; limit: number },
): Promise<string[]> {
  const rows = await db.all<{ slug: string }>(sql`
    SELECT p.slug FROM projects p WHERE ${only === undefined ? empty : sql`p.id = ${only} AND`} EXISTS (
      SELECT 1 FROM agents a WHERE a.project_id = p.id AND a.name_key = ${nameKey} ${seen ? sql`AND a.active_at > 0` : empty}) ORDER BY p.id LIMIT ${limit}`)
  return rows.map(({ slug }) => slug)
}

export interface NewAgent {
  projectId: number
  name: string
  nameKey: string
  policy: string
  /** 0 if it has done nothing itself yet. */
  activeAt: number
  now: number
}

export async function insertAgent(tx: Tx, agent: NewAgent): Promise<AgentRow> {
  const { projectId, name, nameKey, policy, activeAt, now } = agent
  const [row] = await tx.all<AgentRow>(sql`
    INSERT INTO agents (project_id, name, name_key, contact_policy, active_at, created_at)
    VALUES (${projectId}, ${name}, ${nameKey}, ${policy}, ${activeAt}, ${now})
    RETURNING id, project_id, name, keyed`)
  return row as AgentRow
}

/** The part of a recipient that a send has to know. */
export interface RecipientRow {
  id: number
  contact_policy: 'open' | 'auto' | 'contacts_only' | 'block_all'
}

export function listRecipients(db: Reader, ids: readonly number[]): Promise<RecipientRow[]> {
  return db.all(sql`SELECT id, contact_policy FROM agents WHERE id IN (${join([...ids])})`)
}

/**
 * Counts one more unread delivery for each that has fewer than `limit` of them, and returns those. Several are locked in
 * the order of their ids: two sends can then wait for each other in one direction only.
 */
export async function raiseUnread(tx: Tx, ids: readonly number[], limit: number): Promise<number[]> {
  const rows =
    ids.length === 1
      ? await tx.all<{ id: number }>(sql`
          UPDATE agents SET unread = unread + 1 WHERE id = ${ids[0]} AND unread < ${limit} RETURNING id`)
      : await tx.all<{ id: number }>(sql`
          WITH locked AS MATERIALIZED (
            SELECT id FROM agents WHERE id IN (${join([...ids])}) ORDER BY id ${forUpdate(tx)})
          UPDATE agents SET unread = unread + 1
          WHERE id IN (SELECT id FROM locked) AND unread < ${limit} RETURNING id`)
  return rows.map(({ id }) => id)
}

export async function updateUnread(tx: Tx, agentId: number, by: 1 | -1): Promise<void> {
  await tx.all(sql`UPDATE agents SET unread = unread + ${by} WHERE id = ${agentId}`)
}

/** Never moved back: another process may have seen a later time. */
export async function updateActive(tx: Tx, agentId: number, at: number): Promise<void> {
  await tx.all(sql`UPDATE agents SET active_at = ${at} WHERE id = ${agentId} AND active_at < ${at}`)
}

export async function updateContactPolicy(tx: Tx, agentId: number, policy: string): Promise<void> {
  await tx.all(sql`UPDATE agents SET contact_policy = ${policy} WHERE id = ${agentId}`)
}

export async function sumUnread(db: Reader): Promise<number> {
  const [row] = await db.all<{ unread: number | null }>(sql`SELECT SUM(unread) AS unread FROM agents`)
  return Number(row?.unread ?? 0)
}
