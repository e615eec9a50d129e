/** Rows of `agents` with their profiles: program, model, task, last activity. */
import sql, { empty, join, raw } from 'sql-template-tag'
import { lookOf } from '../../base/confusables.ts'
import { nameKey } from '../../base/names.ts'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { RecipientRow } from './agents.ts'

/** Whether images of an agent's messages stand in the message or are files of their own; `auto` goes by their size. */
export type AttachmentsPolicy = 'auto' | 'inline' | 'file'

export interface ProfileRow {
  id: number
  project_id: number
  name: string
  program: string
  model: string
  task: string
  contact_policy: RecipientRow['contact_policy']
  attachments_policy: AttachmentsPolicy
  keyed: number
  unread: number
  active_at: number
  created_at: number
  /** With commas between them; null where it has none. */
  roles: string | null
}

/** Blind copies are not counted: a number that grows would tell of one (mail.bcc.uncounted). An index holds those unread. */
const columns = raw(`id, project_id, name, program, model, task, contact_policy, attachments_policy, keyed, active_at,
  created_at,
  unread - (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = agents.id AND d.kind = 'bcc' AND d.read_at IS NULL)
    AS unread,
  (SELECT string_agg(r.role, ',' ORDER BY r.role) FROM agent_roles r WHERE r.agent_id = agents.id) AS roles`)

export async function findProfile(db: Reader, projectId: number, nameKey: string): Promise<ProfileRow | undefined> {
  const rows = await db.all<ProfileRow>(sql`
    SELECT ${columns} FROM agents WHERE project_id = ${projectId} AND name_key = ${nameKey}`)
  return rows[0]
}

export interface NewProfile {
  projectId: number
  name: string
  nameKey: string
  program: string
  model: string
  task: string
  policy: string
  attachments?: AttachmentsPolicy
  now: number
}

export async function insertProfile(
  tx: Tx,
  { projectId, name, nameKey, program, model, task, policy, attachments = 'auto', now }: NewProfile,
): Promise<ProfileRow> {
  const [row] = await tx.all<ProfileRow>(sql`
    INSERT INTO agents (project_id, name, name_key, look, program, model, task, contact_policy, attachments_policy, active_at,
      created_at)
    VALUES (${projectId}, ${name}, ${nameKey}, ${lookOf(name)}, ${program}, ${model}, ${task}, ${policy}, ${attachments}, ${now}, ${now})
    RETURNING ${columns}`)
  return row as ProfileRow
}

/** A field that is not given stays as it is. */
export async function updateProfile(
  tx: Tx,
  id: number,
  {
    program = null,
    model = null,
    task = null,
    attachments = null,
  }: { [field in 'program' | 'model' | 'task' | 'attachments']?: string | null | undefined },
): Promise<ProfileRow> {
  const [row] = await tx.all<ProfileRow>(sql`
    UPDATE agents SET program = COALESCE(${program}, program), model = COALESCE(${model}, model),
      task = COALESCE(${task}, task), attachments_policy = COALESCE(${attachments}, attachments_policy)
    WHERE id = ${id} RETURNING ${columns}`)
  return row as ProfileRow
}

/** The given names that are taken: an agent of the project has the name, or one that looks like it. */
export async function listTaken(db: Reader, projectId: number, names: readonly string[]): Promise<string[]> {
  const rows = await db.all<{ name_key: string; look: string | null }>(sql`
    SELECT name_key, look FROM agents WHERE project_id = ${projectId} AND name_key IN (${join(names.map(nameKey))})
    UNION ALL
    SELECT name_key, look FROM agents WHERE project_id = ${projectId} AND look IN (${join(names.map(lookOf))})`)
  return names.filter((name) => rows.some((row) => row.name_key === nameKey(name) || row.look === lookOf(name)))
}

/** Agents active since that time, the latest first. */
export function listRecent(
  db: Reader,
  projectId: number,
  { since, limit }: { since: number; limit: number },
): Promise<ProfileRow[]> {
  return db.all<ProfileRow>(sql`
    SELECT ${columns} FROM agents WHERE project_id = ${projectId} AND active_at >= ${since}
    ORDER BY active_at DESC, id DESC LIMIT ${limit}`)
}

/** The names of the agents active last, but for one, and for those that never were. */
export async function listNames(
  db: Reader,
  projectId: number,
  { notId, limit }: { notId: number; limit: number },
): Promise<string[]> {
  const rows = await db.all<{ name: string }>(sql`
    SELECT name FROM agents WHERE project_id = ${projectId} AND id <> ${notId} AND active_at > 0
    ORDER BY active_at DESC, id DESC LIMIT ${limit}`)
  return rows.map(({ name }) => name)
}

/** The same of all projects, each name with the slug of its project. */
export function listNamesAnywhere(db: Reader, limit: number): Promise<{ name: string; slug: string }[]> {
  return db.all<{ name: string; slug: string }>(sql`
    SELECT a.name, p.slug FROM agents a JOIN projects p ON p.id = a.project_id WHERE a.active_at > 0
    ORDER BY a.active_at DESC, a.id DESC LIMIT ${limit}`)
}

/** Agents of all projects, or of one, that were active since then, the latest first; people are left out. */
export function listEverywhere(
  db: Reader,
  { projectId, since, ids, limit }: { projectId: number | undefined; since: number; ids?: number[]; limit: number },
): Promise<ProfileRow[]> {
  return db.all<ProfileRow>(sql`
    SELECT ${columns} FROM agents
    WHERE project_id IN (SELECT p.id FROM projects p ${projectId === undefined ? empty : sql`WHERE p.id = ${projectId}`})
      ${ids === undefined ? empty : sql`AND id IN ${listed(db, ids)}`} AND active_at >= ${since} AND name_key <> 'humanoverseer'
    ORDER BY active_at DESC, id DESC LIMIT ${limit}`)
}

/** The project's agents with these ids, in any order. */
export async function listProfiles(db: Reader, projectId: number, ids: readonly number[]): Promise<ProfileRow[]> {
  if (ids.length === 0) return []
  return db.all<ProfileRow>(sql`
    SELECT ${columns} FROM agents WHERE id IN ${listed(db, ids)} AND project_id = ${projectId}`)
}

interface ByName {
  since: number
  /** Agents that count as active, whatever is stored of them. */
  active: readonly number[]
  after: string | undefined
  limit: number
}

/** Agents active since then by name, after this one: one that becomes active in between is not passed over. */
export function listByName(
  db: Reader,
  projectId: number,
  { since, active, after, limit }: ByName,
): Promise<ProfileRow[]> {
  const also = active.length === 0 ? empty : sql`OR id IN ${listed(db, active)}`
  return db.all<ProfileRow>(sql`
    SELECT ${columns} FROM agents WHERE project_id = ${projectId} AND (active_at >= ${since} ${also})
      ${after === undefined ? empty : sql`AND name_key > ${after}`}
    ORDER BY name_key LIMIT ${limit}`)
}

/** How many agents each of these projects has; one without any is missing. */
export async function countByProject(db: Reader, projectIds: readonly number[]): Promise<Map<number, number>> {
  if (projectIds.length === 0) return new Map()
  const rows = await db.all<{ project_id: number; count: number }>(sql`
    SELECT project_id, COUNT(*) AS count FROM agents WHERE project_id IN (${join([...projectIds])}) GROUP BY project_id`)
  return new Map(rows.map(({ project_id, count }) => [project_id, Number(count)]))
}
