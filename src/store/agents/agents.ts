/** Rows of `agents`, with the counter of unread deliveries that each carries. */
import sql, { empty, join } from 'sql-template-tag'
import { lookOf } from '../../base/confusables.ts'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { archiveLease } from '../messages/admission.ts'

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

/** When it last did something; 0 if it never did. */
export async function findActiveAt(db: Reader, id: number): Promise<number> {
  const [row] = await db.all<{ active_at: number }>(sql`SELECT active_at FROM agents WHERE id = ${id}`)
  return row?.active_at ?? 0
}

export async function findUnread(db: Reader, id: number): Promise<number> {
  const [row] = await db.all<{ unread: number }>(sql`SELECT unread FROM agents WHERE id = ${id}`)
  return row?.unread ?? 0
}

/** The agent of a project whose name looks like this. */
export async function findLookalike(db: Reader, projectId: number, look: string): Promise<string | undefined> {
  const [row] = await db.all<{ name: string }>(
    sql`SELECT name FROM agents WHERE project_id = ${projectId} AND look = ${look}`,
  )
  return row?.name
}

interface OwnedRow extends AgentRow {
  owner_contact: string | null
  created_at: number
}

/** The agent of a key. */
export async function findOwned(db: Reader, id: number): Promise<OwnedRow | undefined> {
  const [row] = await db.all<OwnedRow>(sql`
    SELECT id, project_id, name, keyed, owner_contact, created_at FROM agents WHERE id = ${id}`)
  return row
}

export async function updateOwnerContact(tx: Tx, id: number, ownerContact: string): Promise<void> {
  await tx.change(sql`UPDATE agents SET owner_contact = ${ownerContact} WHERE id = ${id}`)
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

interface NewAgent {
  projectId: number
  name: string
  nameKey: string
  policy: string
  program?: string
  model?: string
  /** 0 if it has done nothing itself yet. */
  activeAt: number
  now: number
}

export async function insertAgent(tx: Tx, agent: NewAgent): Promise<AgentRow> {
  const { projectId, name, nameKey, policy, program = 'unknown', model = 'unknown', activeAt, now } = agent
  const [row] = await tx.all<AgentRow>(sql`
    INSERT INTO agents (project_id, name, name_key, look, contact_policy, program, model, active_at, created_at)
    VALUES (${projectId}, ${name}, ${nameKey}, ${lookOf(name)}, ${policy}, ${program}, ${model}, ${activeAt}, ${now})
    RETURNING id, project_id, name, keyed`)
  return row as AgentRow
}

/** The part of a recipient that a send has to know. */
export interface RecipientRow {
  id: number
  contact_policy: 'open' | 'auto' | 'contacts_only' | 'block_all'
  unread: number
  /** Whether somebody holds archive paths in its project: an index is asked, in the same statement. */
  reserved: 0 | 1
}

export function listRecipients(db: Reader, ids: readonly number[]): Promise<RecipientRow[]> {
  return db.all(sql`
    SELECT id, contact_policy, unread, CASE WHEN ${archiveLease} THEN 1 ELSE 0 END AS reserved
    FROM agents WHERE id IN (${join([...ids])})`)
}

/** When each of these was last active, as far as it is written. */
export const listActiveTimes = (db: Reader, ids: readonly number[]): Promise<{ id: number; active_at: number }[]> =>
  db.all(sql`SELECT id, active_at FROM agents WHERE id IN (${join([...ids])})`)

export function updateUnread(tx: Tx, agentId: number, by: number): void {
  tx.enqueue(sql`UPDATE agents SET unread = unread + ${by} WHERE id = ${agentId}`)
}

/** Never moved back: another process may have seen a later time. */
export async function updateActive(tx: Tx, agentId: number, at: number): Promise<void> {
  await tx.change(sql`UPDATE agents SET active_at = ${at} WHERE id = ${agentId} AND active_at < ${at}`)
}

export async function updateContactPolicy(tx: Tx, agentId: number, policy: string): Promise<void> {
  await tx.change(sql`UPDATE agents SET contact_policy = ${policy} WHERE id = ${agentId}`)
}

export async function sumUnread(db: Reader): Promise<number> {
  const [row] = await db.all<{ unread: number | null }>(sql`SELECT SUM(unread) AS unread FROM agents`)
  return Number(row?.unread ?? 0)
}

/** Whether any agent has or had a key: the first entry of an index that holds nobody else. */
export async function hasKeys(db: Reader): Promise<boolean> {
  return (await db.all(sql`SELECT 1 FROM agents WHERE keyed = 1 LIMIT 1`)).length > 0
}

/** The agents of one name that have unread mail, by project, and how much. As a join, SQLite would go through all agents. */
export function listUnreadNamed(
  db: Reader,
  nameKey: string,
): Promise<{ id: number; project_id: number; unread: number }[]> {
  return db.all(sql`
    SELECT id, project_id, unread FROM agents
    WHERE id IN (SELECT (SELECT n.id FROM agents n WHERE n.project_id = p.id AND n.name_key = ${nameKey}) FROM projects p)
      AND unread > 0 ORDER BY project_id`)
}

export function listAgentsById(db: Reader, ids: readonly number[]): Promise<AgentRow[]> {
  return db.all(sql`SELECT id, project_id, name, keyed FROM agents WHERE id IN ${listed(db, ids)}`)
}

export async function findAgentById(db: Reader, id: number): Promise<AgentRow | undefined> {
  const [row] = await db.all<AgentRow>(sql`SELECT id, project_id, name, keyed FROM agents WHERE id = ${id}`)
  return row
}
