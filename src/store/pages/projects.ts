/** Projects as the pages list them, with the figures that agents carry. */
import sql, { empty, join } from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import type { ProjectRow } from '../projects.ts'

interface ProjectsQuery {
  readonly only: number | undefined
  /** Part of the slug or key, in lower case. */
  readonly q: string | undefined
  readonly after: number
  readonly limit: number
}

export function listProjectsLike(db: Reader, { only, q, after, limit }: ProjectsQuery): Promise<ProjectRow[]> {
  const like = `%${(q ?? '').replace(/[\\%_]/g, '\\$&')}%`
  return db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects
    WHERE id > ${after} ${only === undefined ? empty : sql`AND id = ${only}`}
      ${q ? sql`AND (slug LIKE ${like} ESCAPE '\\' OR LOWER(human_key) LIKE ${like} ESCAPE '\\')` : empty}
    ORDER BY id LIMIT ${limit}`)
}

/** Projects that have an agent: the common project is always there, also where nobody uses it. */
export function listPeopled(
  db: Reader,
  { only, limit }: { only: number | undefined; limit: number },
): Promise<{ id: number; slug: string }[]> {
  return db.all(sql`
    SELECT p.id, p.slug FROM projects p WHERE EXISTS (SELECT 1 FROM agents a WHERE a.project_id = p.id)
      ${only === undefined ? empty : sql`AND p.id = ${only}`}
    ORDER BY p.id LIMIT ${limit}`)
}

interface AgentFiguresRow {
  project_id: number
  agents: number
  unread: number
  behind: number
  active_at: number
}

/** Blind copies are counted for those who may see them. */
export async function listAgentFigures(
  db: Reader,
  projectIds: readonly number[],
  { blind }: { blind: boolean },
): Promise<ReadonlyMap<number, AgentFiguresRow>> {
  if (projectIds.length === 0) return new Map()
  const hidden = sql`(SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = a.id AND d.kind = 'bcc' AND d.read_at IS NULL)`
  const rows = await db.all<AgentFiguresRow>(sql`
    SELECT project_id, COUNT(*) AS agents, SUM(unread) AS unread, SUM(CASE WHEN unread > 0 THEN 1 ELSE 0 END) AS behind,
      MAX(active_at) AS active_at
    FROM (SELECT a.project_id, a.active_at, a.unread ${blind ? empty : sql`- ${hidden}`} AS unread FROM agents a WHERE a.project_id IN (${join([...projectIds])})) AS a
    GROUP BY project_id`)
  return new Map(
    rows.map((row) => [row.project_id, { ...row, unread: Number(row.unread), behind: Number(row.behind) }]),
  )
}

/** Agents with this in their name, those that begin with it first. */
export function listAgentsLike(
  db: Reader,
  { only, q, limit }: { only: number | undefined; q: string; limit: number },
): Promise<{ name: string; project_id: number }[]> {
  const escaped = q.replace(/[\\%_]/g, '\\$&')
  return db.all(sql`
    SELECT name, project_id FROM agents
    WHERE name_key LIKE ${`%${escaped}%`} ESCAPE '\\' AND name_key <> 'humanoverseer'
      ${only === undefined ? empty : sql`AND project_id = ${only}`}
    ORDER BY CASE WHEN name_key LIKE ${`${escaped}%`} ESCAPE '\\' THEN 0 ELSE 1 END, active_at DESC, id LIMIT ${limit}`)
}

/** The names of agents with a higher id, in the order in which they came. */
export function listNamesAfter(
  db: Reader,
  after: number,
  limit: number,
): Promise<{ id: number; project_id: number; name: string }[]> {
  return db.all(sql`SELECT id, project_id, name FROM agents WHERE id > ${after} ORDER BY id LIMIT ${limit}`)
}

/** How many active leases each agent of a project holds. */
export async function countLeases(db: Reader, projectId: number, now: number): Promise<ReadonlyMap<number, number>> {
  const rows = await db.all<{ agent_id: number; count: number }>(sql`
    SELECT agent_id, COUNT(*) AS count FROM leases
    WHERE project_id = ${projectId} AND released_at IS NULL AND +expires_at > ${now} GROUP BY agent_id`)
  return new Map(rows.map(({ agent_id, count }) => [agent_id, count]))
}

interface AddresseeRow {
  project_id: number
  name: string
  task: string
  active_at: number
  contact_policy: 'open' | 'auto' | 'contacts_only' | 'block_all'
}

/** All agents but those that stand for people or for Parley, by project and name. */
export function listAddressees(
  db: Reader,
  { projectId, limit }: { projectId: number | undefined; limit: number },
): Promise<AddresseeRow[]> {
  return db.all<AddresseeRow>(sql`
    SELECT a.project_id, a.name, a.task, a.active_at, a.contact_policy FROM agents a
    WHERE a.name_key NOT IN ('humanoverseer', 'parley') ${projectId === undefined ? empty : sql`AND a.project_id = ${projectId}`}
    ORDER BY a.project_id, a.name_key LIMIT ${limit}`)
}
