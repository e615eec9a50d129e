/** Rows of `related_projects`: pairs that may belong together, and what people said about them. */
import sql, { join } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'
import type { ProjectRow } from '../projects.ts'

type RelatedStatus = 'suggested' | 'confirmed' | 'dismissed' | 'unrelated'

export interface RelatedRow {
  a_id: number
  b_id: number
  percent: number
  reason: string
  status: RelatedStatus
}

/** The confirmed siblings of each project, by their slugs. */
export async function listConfirmed(db: Reader): Promise<Map<number, string[]>> {
  const rows = await db.all<{ a_id: number; b_id: number; a_slug: string; b_slug: string }>(sql`
    SELECT r.a_id, r.b_id, a.slug AS a_slug, b.slug AS b_slug
    FROM related_projects r JOIN projects a ON a.id = r.a_id JOIN projects b ON b.id = r.b_id
    WHERE r.status = 'confirmed' AND r.status <> 'unrelated' ORDER BY r.a_id, r.b_id LIMIT 10000`)
  const siblings = new Map<number, string[]>()
  for (const { a_id, b_id, a_slug, b_slug } of rows)
    for (const [id, slug] of [
      [a_id, b_slug],
      [b_id, a_slug],
    ] as const)
      siblings.set(id, [...(siblings.get(id) ?? []), slug])
  return siblings
}

interface SuggestionRow extends RelatedRow {
  a_slug: string
  a_key: string
  b_slug: string
  b_key: string
}

/** The likeliest first. */
export function listSuggested(db: Reader, limit: number): Promise<SuggestionRow[]> {
  return db.all<SuggestionRow>(sql`
    SELECT r.a_id, r.b_id, r.percent, r.reason, r.status, a.slug AS a_slug, a.human_key AS a_key, b.slug AS b_slug, b.human_key AS b_key
    FROM related_projects r JOIN projects a ON a.id = r.a_id JOIN projects b ON b.id = r.b_id
    WHERE r.status = 'suggested' AND r.status <> 'unrelated' ORDER BY r.percent DESC, r.a_id, r.b_id LIMIT ${limit}`)
}

/** A person's word: it stands whatever is found out later. */
export async function upsertDecided(
  tx: Tx,
  { a, b, status, now }: { a: number; b: number; status: 'confirmed' | 'dismissed'; now: number },
): Promise<void> {
  await tx.change(sql`
    INSERT INTO related_projects (a_id, b_id, percent, reason, status, judged_at)
    VALUES (${a}, ${b}, 100, 'A person linked them.', ${status}, ${now})
    ON CONFLICT (a_id, b_id) DO UPDATE SET status = excluded.status`)
}

/** Stores computed relations: a decision of a person stays as it is. */
export async function upsertJudged(tx: Tx, rows: readonly RelatedRow[], now: number): Promise<void> {
  if (rows.length === 0) return
  const lines = rows.map((row) => sql`(${row.a_id}, ${row.b_id}, ${row.percent}, ${row.reason}, ${row.status}, ${now})`)
  await tx.change(sql`
    INSERT INTO related_projects (a_id, b_id, percent, reason, status, judged_at) VALUES ${join(lines)}
    ON CONFLICT (a_id, b_id) DO UPDATE
    SET percent = excluded.percent, reason = excluded.reason, status = excluded.status, judged_at = excluded.judged_at
    WHERE related_projects.status IN ('suggested', 'unrelated')`)
}

/** Every pair that was judged, whatever came of it. */
export const listJudged = (db: Reader): Promise<Pick<RelatedRow, 'a_id' | 'b_id'>[]> =>
  db.all(sql`SELECT a_id, b_id FROM related_projects`)

/** The newest first. */
export function listNewestProjects(db: Reader, limit: number): Promise<ProjectRow[]> {
  return db.all<ProjectRow>(sql`
    SELECT id, slug, human_key, created_at FROM projects WHERE human_key <> 'commons' ORDER BY id DESC LIMIT ${limit}`)
}

interface DealingsRow {
  a_id: number
  b_id: number
  contacts: number
  messages: number
}

/** So many of the newest messages across projects, and of the contacts, say who deals with whom. */
const mostAsked = 10_000

/** Pairs of projects whose agents are contacts or write to each other. */
export async function listDealings(db: Reader): Promise<DealingsRow[]> {
  return db.all<DealingsRow>(sql`
    SELECT a_id, b_id, SUM(contacts) AS contacts, SUM(messages) AS messages FROM (
      SELECT CASE WHEN f.project_id < t.project_id THEN f.project_id ELSE t.project_id END AS a_id,
        CASE WHEN f.project_id < t.project_id THEN t.project_id ELSE f.project_id END AS b_id, 1 AS contacts, 0 AS messages
      FROM (SELECT from_id, to_id FROM contacts WHERE status = 'approved' ORDER BY id DESC LIMIT ${mostAsked}) AS c
      JOIN agents f ON f.id = c.from_id JOIN agents t ON t.id = c.to_id WHERE f.project_id <> t.project_id
      UNION ALL
      SELECT CASE WHEN g.project_id < t.project_id THEN g.project_id ELSE t.project_id END,
        CASE WHEN g.project_id < t.project_id THEN t.project_id ELSE g.project_id END, 0, 1
      FROM (SELECT project_id, thread_id FROM message_guests ORDER BY message_id DESC LIMIT ${mostAsked}) AS g
      JOIN threads t ON t.id = g.thread_id WHERE g.project_id <> t.project_id
    ) AS dealings GROUP BY a_id, b_id`)
}
