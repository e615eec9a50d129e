/** Counts for metrics, each by an index or over a small table. */
import sql from 'sql-template-tag'
import type { Reader } from '../db/port.ts'
import { findLastChange } from './feed/changes.ts'
import { pruning } from './feed/followers.ts'

async function count(db: Reader, query: ReturnType<typeof sql>): Promise<number> {
  const [row] = await db.all<{ count: number }>(query)
  return row?.count ?? 0
}

export const countLeases = (db: Reader, now: number): Promise<number> =>
  count(db, sql`SELECT COUNT(*) AS count FROM leases WHERE released_at IS NULL AND expires_at > ${now}`)

/** Deliveries sent up to then whose acknowledgement is still wanted; what left the mailbox unread is not. */
export const countOverdue = (db: Reader, before: number, most: number): Promise<number> =>
  count(
    db,
    // Written as its index is: all unacknowledged mail is found without a look at any other.
    sql`SELECT COUNT(*) AS count FROM (
      SELECT 1 FROM deliveries d
      WHERE d.ack_wanted = 1 AND COALESCE(d.acked_at, 0) = 0 AND d.sent_at <= ${before} AND d.ended IS NULL
      LIMIT ${most}) AS late`,
  )

export const countFull = (db: Reader, limit: number): Promise<number> =>
  count(db, sql`SELECT COUNT(*) AS count FROM agents WHERE unread >= ${limit}`)

/** Inboxes that hold so many messages or more, read or not, and those among them that hold `full`. */
export async function countLargeInboxes(
  db: Reader,
  { near, full }: { near: number; full: number },
): Promise<{ near: number; full: number }> {
  const [row] = await db.all<{ near: number; full: number | null }>(sql`
    SELECT COUNT(*) AS near, SUM(CASE WHEN size >= ${full} THEN 1 ELSE 0 END) AS full FROM (
      SELECT COUNT(*) AS size FROM deliveries GROUP BY recipient_id HAVING COUNT(*) >= ${near}) AS large`)
  return { near: Number(row?.near ?? 0), full: Number(row?.full ?? 0) }
}

/** Projects that store so many bytes of attachments or more, the largest first. */
export async function listLargeProjects(db: Reader, least: number): Promise<{ project: string; bytes: number }[]> {
  const rows = await db.all<{ project: string; bytes: number }>(sql`
    SELECT slug AS project, attachment_bytes AS bytes FROM projects WHERE attachment_bytes >= ${least}
    ORDER BY attachment_bytes DESC, id`)
  return rows.map(({ project, bytes }) => ({ project, bytes: Number(bytes) }))
}

export interface ProjectFigures {
  readonly project: string
  readonly messages: number
  readonly unread: number
  readonly leases: number
  readonly attachment_bytes: number
}

/** Of so many projects, those with the most messages first. */
export const listProjectFigures = (db: Reader, now: number, most: number): Promise<ProjectFigures[]> =>
  db.all<ProjectFigures>(sql`
    SELECT p.slug AS project, COALESCE(t.messages, 0) AS messages, p.attachment_bytes,
      COALESCE((SELECT SUM(a.unread) FROM agents a WHERE a.project_id = p.id), 0) AS unread,
      (SELECT COUNT(*) FROM leases l WHERE l.project_id = p.id AND l.released_at IS NULL AND l.expires_at > ${now}) AS leases
    FROM projects p LEFT JOIN activity_totals t ON t.project_id = p.id
    ORDER BY COALESCE(t.messages, 0) DESC, p.id LIMIT ${most}`)

interface Lag {
  readonly name: string
  readonly rows: number
  /** When the oldest change was made that it has not taken in. */
  readonly since: number | undefined
}

/** How far each follower of the feed is behind its end. */
export async function listLags(db: Reader): Promise<Lag[]> {
  const last = await findLastChange(db)
  const followers = await db.all<{ name: string; id: number }>(
    sql`SELECT name, change_id AS id FROM followers WHERE name <> ${pruning}`,
  )
  const lags: Lag[] = []
  for (const { name, id } of followers) {
    const [next] =
      id >= last ? [] : await db.all<{ at: number }>(sql`SELECT at FROM changes WHERE id > ${id} ORDER BY id LIMIT 1`)
    lags.push({ name, rows: Math.max(0, last - id), since: next?.at })
  }
  return lags
}
