/** Rows of `activity`: how many messages there were in each slot of time, in all, of each agent, and between two. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { listed, numberRows } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { type FeedPosition, feedOrder } from '../feed/positions.ts'
import { ofProject } from '../visibility.ts'

/** The lengths of slots, in milliseconds. The shortest is kept for two hours only. */
export const grains = { minutes: 300_000, hour: 3_600_000, day: 86_400_000 } as const
export const keptShortMs = 2 * grains.hour
const keptLongMs = 32 * grains.day

export const kinds = { all: 0, sender: 1, pair: 2 } as const

export interface CountRow {
  project_id: number
  grain: number
  kind: number
  slot: number
  from_id: number
  to_id: number
  count: number
}

/**
 * Messages by their senders in the shortest slots, and those from an agent to another, each message once for every project that
 * sees it. Blind copies are not counted: a figure that grows would tell of one.
 */
export function listCounts(db: Reader, ids: readonly number[]): Promise<CountRow[]> {
  const [grain, sender, pair] = [grains.minutes, kinds.sender, kinds.pair].map((number) => raw(String(number)))
  return db.all<CountRow>(sql`
    WITH counted AS (
      SELECT m.id, t.project_id, m.sender_id, m.created_at - m.created_at % ${grain} AS slot
      FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id IN ${listed(db, ids)}
      UNION ALL
      SELECT m.id, g.project_id, m.sender_id, m.created_at - m.created_at % ${grain} AS slot
      FROM messages m JOIN threads t ON t.id = m.thread_id JOIN message_guests g ON g.message_id = m.id
      WHERE m.id IN ${listed(db, ids)} AND g.project_id <> t.project_id)
    SELECT project_id, ${grain} AS grain, ${sender} AS kind, slot, sender_id AS from_id, 0 AS to_id, COUNT(*) AS count
    FROM counted GROUP BY project_id, slot, sender_id
    UNION ALL
    SELECT c.project_id, ${grain} AS grain, ${pair} AS kind, c.slot, c.sender_id AS from_id, d.recipient_id AS to_id, COUNT(*) AS count
    FROM counted c JOIN deliveries d ON d.message_id = c.id AND d.kind <> 'bcc'
    GROUP BY c.project_id, c.slot, c.sender_id, d.recipient_id`)
}

const countColumns = ['project_id', 'grain', 'kind', 'slot', 'from_id', 'to_id', 'count'] as const

export function raiseCounts(tx: Tx, rows: Iterable<CountRow>): void {
  tx.enqueue(sql`
    INSERT INTO activity (${raw(countColumns.join(', '))}) ${numberRows(tx, countColumns, [...rows])} WHERE TRUE
    ON CONFLICT (project_id, grain, kind, slot, from_id, to_id) DO UPDATE SET count = activity.count + excluded.count`)
}

export async function raiseTotals(tx: Tx, totals: ReadonlyMap<number, number>): Promise<void> {
  if (totals.size === 0) return
  const lines = [...totals].sort(([a], [b]) => a - b).map(([projectId, count]) => sql`(${projectId}, ${count})`)
  await tx.change(sql`
    INSERT INTO activity_totals (project_id, messages) VALUES ${join(lines)}
    ON CONFLICT (project_id) DO UPDATE SET messages = activity_totals.messages + excluded.messages`)
}

/** Messages that go leave the totals, as far as the follower at this place has counted them. */
export async function lowerTotals(tx: Tx, messageIds: readonly number[], place: FeedPosition): Promise<void> {
  const ids = listed(tx, messageIds)
  const counted = sql`m.id IN ${ids} AND m.id NOT IN (
    SELECT message_id FROM changes
    WHERE ${feedOrder(tx).after(place)} AND kind IN ('message.sent', 'message.said') AND message_id IN ${ids})`
  const rows = await tx.all<{ project_id: number; count: number }>(sql`
    SELECT project_id, COUNT(*) AS count FROM (
      SELECT t.project_id FROM messages m JOIN threads t ON t.id = m.thread_id WHERE ${counted}
      UNION ALL
      SELECT g.project_id FROM message_guests g JOIN messages m ON m.id = g.message_id JOIN threads t ON t.id = m.thread_id
      WHERE g.project_id <> t.project_id AND ${counted}
    ) AS gone GROUP BY project_id ORDER BY project_id`)
  for (const { project_id, count } of rows)
    await tx.change(sql`
      UPDATE activity_totals SET messages = CASE WHEN messages > ${count} THEN messages - ${count} ELSE 0 END
      WHERE project_id = ${project_id}`)
}

/** Short slots of these projects that are over. */
export async function deleteShort(tx: Tx, projectIds: readonly number[], before: number): Promise<void> {
  for (const projectId of projectIds)
    for (const kind of Object.values(kinds))
      await tx.change(sql`
        DELETE FROM activity
        WHERE project_id = ${projectId} AND grain = ${grains.minutes} AND kind = ${kind} AND slot < ${before}`)
}

/**
 * Everything anew, from the messages that are there. Those whose change comes after the place are left to the follower,
 * which is handed it next: a message and its change become visible at once, so that none is counted twice or never.
 */
export async function recount(tx: Tx, now: number, place: FeedPosition): Promise<void> {
  await tx.change(sql`DELETE FROM activity`)
  await tx.change(sql`DELETE FROM activity_totals`)
  const next = sql`(
    SELECT message_id FROM changes WHERE ${feedOrder(tx).after(place)} AND kind IN ('message.sent', 'message.said'))`
  const seen = (from: number): Sql => sql`(
    SELECT m.id, t.project_id, m.sender_id, m.created_at FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id >= ${from} AND m.id NOT IN ${next}
    UNION ALL
    SELECT m.id, g.project_id, m.sender_id, m.created_at
    FROM message_guests g JOIN messages m ON m.id = g.message_id JOIN threads t ON t.id = m.thread_id
    WHERE m.id >= ${from} AND g.project_id <> t.project_id AND m.id NOT IN ${next}) AS s`
  await tx.change(sql`
    INSERT INTO activity_totals (project_id, messages) SELECT s.project_id, COUNT(*) FROM ${seen(0)} GROUP BY s.project_id`)
  // Nobody looks further back than a month. The sums of days, and of all agents, come from those of hours.
  const month = await findFirstSince(tx, now - keptLongMs)
  const evening = await findFirstSince(tx, now - keptShortMs)
  for (const [grain, from] of [
    [grains.hour, month],
    [grains.minutes, evening],
  ] as const) {
    const insert = (kind: number, to: Sql, joined: Sql): Sql => sql`
      INSERT INTO activity (project_id, grain, kind, slot, from_id, to_id, count)
      SELECT s.project_id, ${raw(String(grain))}, ${raw(String(kind))}, s.created_at - s.created_at % ${raw(String(grain))},
        s.sender_id, ${to}, COUNT(*)
      FROM ${seen(from)} ${joined} GROUP BY 1, 2, 3, 4, 5, 6`
    await tx.change(insert(kinds.sender, raw('0'), empty))
    await tx.change(
      insert(kinds.pair, sql`d.recipient_id`, sql`JOIN deliveries d ON d.message_id = s.id AND d.kind <> 'bcc'`),
    )
  }
  await tx.change(sql`
    INSERT INTO activity (project_id, grain, kind, slot, from_id, to_id, count)
    SELECT project_id, ${raw(String(grains.day))}, kind, slot - slot % ${raw(String(grains.day))}, from_id, to_id, SUM(count)
    FROM activity WHERE grain = ${grains.hour} GROUP BY 1, 2, 3, 4, 5, 6`)
  await tx.change(sql`
    INSERT INTO activity (project_id, grain, kind, slot, from_id, to_id, count)
    SELECT project_id, grain, ${raw(String(kinds.all))}, slot, 0, 0, SUM(count)
    FROM activity WHERE kind = ${kinds.sender} GROUP BY 1, 2, 3, 4, 5, 6`)
}

/** The first message of a time, to an id or so: ids and times go together. */
async function findFirstSince(tx: Tx, time: number): Promise<number> {
  const [ends] = await tx.all<{ low: number | null; high: number | null }>(
    sql`SELECT (SELECT MIN(id) FROM messages) AS low, (SELECT MAX(id) FROM messages) AS high`,
  )
  let [low, high] = [ends?.low ?? 0, (ends?.high ?? 0) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = await tx.all<{ created_at: number }>(
      sql`SELECT created_at FROM messages WHERE id >= ${middle} ORDER BY id LIMIT 1`,
    )
    if (row !== undefined && row.created_at < time) low = middle + 1
    else high = middle
  }
  return low
}

/** The follower that counts. */
export const counting = 'activity'

/** More than these are counted behind the answers. */
const mostUncounted = 3000

/** Messages that are not counted yet, some seconds' worth. They are added where sums are read, in one statement: none is missing, none is there twice. */
function uncounted(db: Reader): Sql {
  const { afterFollower, columns } = feedOrder(db)
  return sql`(
    SELECT message_id FROM changes WHERE ${afterFollower(counting)} AND kind IN ('message.sent', 'message.said')
    ORDER BY ${columns} LIMIT ${mostUncounted})`
}

interface CountQuery {
  readonly projectId: number
  readonly grain: number
  readonly since: number
}

/** Sums of one kind, of slots from a time on. */
function sums(db: Reader, kind: keyof typeof kinds, { projectId, grain, since }: CountQuery): Sql {
  const pair = kind === 'pair'
  return sql`(
    SELECT slot, from_id, to_id, count FROM activity
    WHERE project_id = ${projectId} AND grain = ${grain} AND kind = ${kinds[kind]} AND slot >= ${since}
    UNION ALL
    SELECT * FROM (
      SELECT m.created_at - m.created_at % ${raw(String(grain))} AS slot, ${kind === 'all' ? raw('0') : sql`m.sender_id`} AS from_id,
        ${pair ? sql`d.recipient_id` : raw('0')} AS to_id, COUNT(*) AS count
      FROM messages m JOIN threads t ON t.id = m.thread_id ${pair ? sql`JOIN deliveries d ON d.message_id = m.id AND d.kind <> 'bcc'` : empty}
      WHERE m.id IN ${uncounted(db)} AND ${ofProject(projectId)} GROUP BY 1, 2, 3) AS few
    WHERE slot >= ${since}) AS parts`
}

export const listSlots = (db: Reader, query: CountQuery): Promise<{ slot: number; count: number }[]> =>
  db.all(sql`SELECT slot, count FROM ${sums(db, 'all', query)}`)

export interface LaneRow {
  name: string
  id: number
  slot: number
  count: number
}

export const listLanes = (db: Reader, query: CountQuery): Promise<LaneRow[]> =>
  db.all<LaneRow>(
    sql`SELECT a.id, a.name, parts.slot, parts.count FROM ${sums(db, 'sender', query)} JOIN agents a ON a.id = parts.from_id`,
  )

interface EdgeRow {
  from_name: string
  from_project: number
  to_name: string
  to_project: number
  count: number
}

export function listEdges(db: Reader, query: CountQuery, limit: number): Promise<EdgeRow[]> {
  return db.all<EdgeRow>(sql`
    SELECT f.name AS from_name, f.project_id AS from_project, t.name AS to_name, t.project_id AS to_project, e.count
    FROM (
      SELECT from_id, to_id, SUM(count) AS count FROM ${sums(db, 'pair', query)}
      GROUP BY from_id, to_id ORDER BY count DESC, from_id, to_id LIMIT ${limit}
    ) AS e JOIN agents f ON f.id = e.from_id JOIN agents t ON t.id = e.to_id ORDER BY e.count DESC, f.id, t.id`)
}

export async function listTotals(db: Reader, projectIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const few = sql`messages m JOIN threads t ON t.id = m.thread_id`
  const rows = await db.all<{ project_id: number; messages: number }>(sql`
    SELECT project_id, SUM(messages) AS messages FROM (
      SELECT project_id, messages FROM activity_totals
      UNION ALL SELECT t.project_id, 1 AS messages FROM ${few} WHERE m.id IN ${uncounted(db)}
      UNION ALL SELECT g.project_id, 1 AS messages FROM ${few} JOIN message_guests g ON g.message_id = m.id
        WHERE m.id IN ${uncounted(db)} AND g.project_id <> t.project_id
    ) AS totals WHERE project_id IN ${listed(db, projectIds)} GROUP BY project_id`)
  return new Map(rows.map(({ project_id, messages }) => [project_id, Number(messages)]))
}
