/** Rows of `projects`. */
import sql, { empty, join } from 'sql-template-tag'
import { folderKey } from '../base/names.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

export interface ProjectRow {
  id: number
  slug: string
  human_key: string
  created_at: number
}

/** By slug or by human key; a slug wins where a key looks the same. */
export async function findProject(db: Reader, slugOrKey: string): Promise<ProjectRow | undefined> {
  const rows = await db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects WHERE slug = ${slugOrKey} OR human_key = ${slugOrKey}
    ORDER BY CASE WHEN slug = ${slugOrKey} THEN 0 ELSE 1 END LIMIT 1`)
  return rows[0]
}

/** By the folder that a key means, where none is written like it. Of two spellings in an older database the tidy one is meant, else the first. */
export async function findProjectAt(db: Reader, humanKey: string): Promise<ProjectRow | undefined> {
  const folder = folderKey(humanKey)
  const [row] = await db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects WHERE folder = ${folder}
    ORDER BY CASE WHEN human_key = ${folder} THEN 0 ELSE 1 END, id LIMIT 1`)
  return row
}

/** The project that one of this slug, key or folder was merged into. */
export async function findMerged(db: Reader, slugOrKey: string): Promise<ProjectRow | undefined> {
  const [row] = await db.all<ProjectRow>(sql`
    SELECT p.id, p.slug, p.human_key, p.created_at FROM project_aliases a JOIN projects p ON p.id = a.project_id
    WHERE a.name IN (${slugOrKey}, ${folderKey(slugOrKey)}) LIMIT 1`)
  return row
}

export async function findSlug(db: Reader, id: number): Promise<string> {
  const [row] = await db.all<{ slug: string }>(sql`SELECT slug FROM projects WHERE id = ${id}`)
  return row?.slug ?? ''
}

export async function insertProject(
  tx: Tx,
  { slug, humanKey, now }: { slug: string; humanKey: string; now: number },
): Promise<ProjectRow> {
  const [row] = await tx.all<ProjectRow>(sql`
    INSERT INTO projects (slug, human_key, folder, created_at) VALUES (${slug}, ${humanKey}, ${folderKey(humanKey)}, ${now})
    RETURNING id, slug, human_key, created_at`)
  return row as ProjectRow
}

export function listProjects(
  db: Reader,
  { only, after, limit }: { only: number | undefined; after: number; limit: number },
): Promise<ProjectRow[]> {
  return db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects
    WHERE id > ${after} ${only === undefined ? empty : sql`AND id = ${only}`} ORDER BY id LIMIT ${limit}`)
}

/** Projects whose slug is this name and a suffix, such as a hash; the name is part of a slug itself. */
export function listProjectsNamed(
  db: Reader,
  { name, only, limit }: { name: string; only: number | undefined; limit: number },
): Promise<ProjectRow[]> {
  return db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects
    WHERE slug LIKE ${`${name}-%`} ${only === undefined ? empty : sql`AND id = ${only}`} ORDER BY id LIMIT ${limit}`)
}

/** The newest first. */
export function listNewest(
  db: Reader,
  { only, limit }: { only: number | undefined; limit: number },
): Promise<ProjectRow[]> {
  return db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects
    WHERE ${only === undefined ? sql`1 = 1` : sql`id = ${only}`} ORDER BY id DESC LIMIT ${limit}`)
}

/** The project with the longest of these folders, as `folderKey` writes them. */
export async function findLongestFolder(
  db: Reader,
  { only, folders }: { only: number | undefined; folders: readonly string[] },
): Promise<ProjectRow | undefined> {
  if (folders.length === 0) return undefined
  const [row] = await db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects
    WHERE folder IN (${join([...folders])}) ${only === undefined ? empty : sql`AND id = ${only}`}
    ORDER BY LENGTH(folder) DESC, id LIMIT 1`)
  return row
}

/** Lets one transaction at a time make something in a project. */
export async function lockProject(tx: Tx, id: number): Promise<void> {
  await tx.all(sql`SELECT id FROM projects WHERE id = ${id} ${forUpdate(tx)}`)
}
