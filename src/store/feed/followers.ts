/** Rows of `followers`: how far each follower of the feed has come, and when it was last heard of. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'
import { type FeedPosition, start } from './positions.ts'

/** Pruning is the last of the followers: changes up to its place are gone. */
export const pruning = 'pruning'

export async function findWatermark(db: Reader, name: string): Promise<FeedPosition | undefined> {
  const [row] = await db.all<FeedPosition>(sql`SELECT tx, change_id AS id FROM followers WHERE name = ${name}`)
  return row
}

/** The place of the slowest follower that was heard of since then. */
export async function findSlowest(db: Reader, heardSince: number): Promise<FeedPosition | undefined> {
  const [row] = await db.all<FeedPosition>(sql`
    SELECT tx, change_id AS id FROM followers WHERE name <> ${pruning} AND seen_at >= ${heardSince}
    ORDER BY tx, change_id LIMIT 1`)
  return row
}

interface Step {
  readonly name: string
  readonly to: FeedPosition
  readonly now: number
}

export async function upsertWatermark(tx: Tx, { name, to, now }: Step): Promise<void> {
  await tx.all(sql`
    INSERT INTO followers (name, tx, change_id, seen_at) VALUES (${name}, ${to.tx}, ${to.id}, ${now})
    ON CONFLICT (name) DO UPDATE SET tx = excluded.tx, change_id = excluded.change_id, seen_at = excluded.seen_at`)
}

/** Before every place: only a follower without a row begins here. */
const nowhere: FeedPosition = { tx: start.tx - 1, id: start.id - 1 }

/** False if somebody else has moved it. On PostgreSQL whoever comes second waits here for the end of the first. */
export async function moveWatermark(
  tx: Tx,
  { name, from = nowhere, to, now }: Step & { readonly from: FeedPosition | undefined },
): Promise<boolean> {
  const rows = await tx.all(sql`
    INSERT INTO followers (name, tx, change_id, seen_at) VALUES (${name}, ${to.tx}, ${to.id}, ${now})
    ON CONFLICT (name) DO UPDATE SET tx = excluded.tx, change_id = excluded.change_id, seen_at = excluded.seen_at
    WHERE followers.tx = ${from.tx} AND followers.change_id = ${from.id}
    RETURNING name`)
  return rows.length > 0
}
