/** Rows of `agent_roles`: which agents of a project have which role. */
import sql, { empty, join } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

export async function replaceRoles(
  tx: Tx,
  { id, projectId, roles }: { id: number; projectId: number; roles: readonly string[] },
): Promise<void> {
  await tx.change(sql`DELETE FROM agent_roles WHERE agent_id = ${id}`)
  const rows = [...new Set(roles)].map((role) => sql`(${projectId}, ${role}, ${id})`)
  if (rows.length > 0) await tx.change(sql`INSERT INTO agent_roles (project_id, role, agent_id) VALUES ${join(rows)}`)
}

export interface MemberRow {
  id: number
  project_id: number
  name: string
  active_at: number
}

/** The agents of a role, the latest active first. */
export function listMembers(
  db: Reader,
  { projectId, role, limit }: { projectId: number; role: string; limit: number },
): Promise<MemberRow[]> {
  return db.all<MemberRow>(sql`
    SELECT a.id, a.project_id, a.name, a.active_at FROM agent_roles r JOIN agents a ON a.id = r.agent_id
    WHERE r.project_id = ${projectId} AND r.role = ${role} ORDER BY a.active_at DESC, a.id LIMIT ${limit}`)
}

/** Everybody of a project who has ever been active, or is in `active`; people are left out. */
export function listEverybody(
  db: Reader,
  { projectId, active, limit }: { projectId: number; active: readonly number[]; limit: number },
): Promise<MemberRow[]> {
  const also = active.length === 0 ? empty : sql`OR id IN ${listed(db, active)}`
  return db.all<MemberRow>(sql`
    SELECT id, project_id, name, active_at FROM agents
    WHERE project_id = ${projectId} AND (active_at > 0 ${also}) AND name_key <> 'humanoverseer' ORDER BY id LIMIT ${limit}`)
}

/** The roles that there are in a project, by name. */
export async function listRoles(db: Reader, projectId: number, limit: number): Promise<string[]> {
  const rows = await db.all<{ role: string }>(sql`
    SELECT DISTINCT role FROM agent_roles WHERE project_id = ${projectId} ORDER BY role LIMIT ${limit}`)
  return rows.map(({ role }) => role)
}
