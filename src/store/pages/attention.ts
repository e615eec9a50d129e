/** Deliveries that want attention: unread for long, urgent, unacknowledged; over all projects or in one. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { can, listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { type Half, messagesIn, sentWithin, unreadHalves } from '../mail/boxes.ts'
import { type Sight, toldOf } from '../visibility.ts'
import { countUnreadIn, mostGathered } from './message-lists.ts'

export type LateView = 'unread' | 'urgent' | 'ack-required' | 'ack-overdue'

export interface LateQuery {
  readonly view: LateView
  readonly projectId?: number | undefined
  readonly sight: Sight
  /** Only deliveries that were made before this time. */
  readonly sentBefore?: number | undefined
  /** Only messages below this id. */
  readonly below?: number | undefined
}

/**
 * Each has two indexes of its own: of all, in the order of the messages, which says COALESCE; and of each recipient. Those of
 * unread mail are filed, and so in halves.
 */
function viewOf(db: Reader, view: LateView): { readonly all: readonly Half[]; readonly own: readonly Half[] } {
  if (view === 'unread') return { all: unreadHalves(db, { anywhere: true }), own: unreadHalves(db) }
  const whole = (where: Sql): readonly Half[] => [{ from: sql`deliveries d`, where }]
  return view === 'urgent'
    ? {
        all: whole(sql`d.urgent = 1 AND COALESCE(d.read_at, 0) = 0`),
        own: whole(sql`d.urgent = 1 AND d.read_at IS NULL`),
      }
    : {
        all: whole(sql`d.ack_wanted = 1 AND COALESCE(d.acked_at, 0) = 0`),
        own: whole(sql`d.ack_wanted = 1 AND d.acked_at IS NULL`),
      }
}

/** The FROM and WHERE of each half of the query. */
async function late(
  db: Reader,
  { view, projectId, sight, sentBefore, below }: LateQuery,
  { ordered }: { ordered: boolean },
): Promise<readonly Sql[]> {
  const { all, own } = viewOf(db, view)
  const where = sql`${sentWithin(sql`d.sent_at`, { until: sentBefore })}
    ${below === undefined ? empty : sql`AND d.message_id < ${below}`} ${sight.blind === 'all' ? empty : sql`AND ${toldOf(sight)}`}
    ${typeof sight.of === 'number' ? sql`AND d.recipient_id = ${sight.of}` : empty}`
  if (projectId === undefined) return all.map((half) => sql`FROM ${half.from} WHERE ${half.where} ${where}`)
  // In the order of the messages, where there are too many to sort.
  if (ordered && view === 'unread' && (await countUnreadIn(db, projectId)) > mostGathered)
    return all.map(
      (half) => sql`FROM ${half.from} WHERE ${half.where} ${where}
        AND (SELECT r.project_id FROM agents r WHERE r.id = d.recipient_id) = ${projectId}`,
    )
  if (!can(db).lateralJoins)
    return own.map(
      (half) =>
        sql`FROM agents r JOIN ${half.from} ON d.recipient_id = r.id WHERE r.project_id = ${projectId} AND ${half.where} ${where}`,
    )
  // Agent by agent: PostgreSQL would rather look through the deliveries of all projects. It joins nothing with an OFFSET.
  return own.map(
    (half) => sql`
      FROM agents r, LATERAL (SELECT d.* FROM ${half.from} WHERE d.recipient_id = r.id AND ${half.where} ${where} OFFSET 0) AS d
      WHERE r.project_id = ${projectId}`,
  )
}

/** The ids of messages, newest first. */
export async function listLate(db: Reader, query: LateQuery & { readonly limit: number }): Promise<number[]> {
  const ids = messagesIn(await late(db, query, { ordered: true }))
  const rows = await db.all<{ id: number }>(sql`${ids} ORDER BY id DESC LIMIT ${query.limit}`)
  return rows.map(({ id }) => id)
}

/** Deliveries, and no more than `most` of them: beyond that nobody counts. */
export async function countLate(db: Reader, query: LateQuery & { readonly most: number }): Promise<number> {
  const halves = (await late(db, query, { ordered: false })).map((half) => sql`SELECT d.id ${half}`)
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM (${join(halves, ' UNION ALL ')} LIMIT ${query.most}) AS few`)
  return row?.count ?? 0
}

export interface ReminderRow {
  message_id: number
  recipient_id: number
  reminded_at: number
}

export function listReminders(db: Reader, messageIds: readonly number[]): Promise<ReminderRow[]> {
  return db.all<ReminderRow>(sql`
    SELECT message_id, recipient_id, reminded_at FROM reminders WHERE message_id IN ${listed(db, messageIds)}`)
}

/** True if the recipient was not reminded of the message since then: now it is. */
export async function takeReminder(
  tx: Tx,
  { messageId, recipientId, now, since }: { messageId: number; recipientId: number; now: number; since: number },
): Promise<boolean> {
  const changed = await tx.change(sql`
    INSERT INTO reminders (message_id, recipient_id, reminded_at) VALUES (${messageId}, ${recipientId}, ${now})
    ON CONFLICT (message_id, recipient_id) DO UPDATE SET reminded_at = excluded.reminded_at
    WHERE reminders.reminded_at <= ${since}`)
  return changed > 0
}
