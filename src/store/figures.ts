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

/** Deliveries sent up to then whose acknowledgement is wanted, and that no chore has escalated. */
export const countOverdue = (db: Reader, before: number, most: number): Promise<number> =>
  count(
    db,
    sql`SELECT COUNT(*) AS count FROM (
      SELECT 1 FROM deliveries d
      WHERE d.ack_wanted = 1 AND d.acked_at IS NULL AND d.escalated_at IS NULL AND d.sent_at <= ${before}
      LIMIT ${most}) AS late`,
  )

export const countFull = (db: Reader, limit: number): Promise<number> =>
  count(db, sql`SELECT COUNT(*) AS count FROM agents WHERE unread >= ${limit}`)

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
