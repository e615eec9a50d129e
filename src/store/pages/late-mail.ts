/** Deliveries that want attention: unread for long, urgent, unacknowledged; over all projects or in one. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { can, listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { messagesOf, type Part, selectParts, sentWithin, unreadParts } from '../mail/boxes.ts'
import { type Sight, toldOf } from '../visibility.ts'
import { countUnreadIn, mostGathered } from './message-lists.ts'

export type LateView = 'unread' | 'urgent' | 'ack-required' | 'ack-overdue'

interface LateQuery {
  readonly view: LateView
  readonly projectId?: number | undefined
  readonly sight: Sight
  /** Only deliveries that were made before this time. */
  readonly sentBefore?: number | undefined
  /** Only messages below this id. */
  readonly below?: number | undefined
}

/** `high` is no more than high, and mail from people is out of their own counts (web.overseer.counts). */
const mostly: Readonly<Record<LateView, Sql>> = {
  unread: sql`AND (SELECT m.sender_id FROM messages m WHERE m.id = d.message_id) NOT IN (
    SELECT o.id FROM projects p JOIN agents o ON o.project_id = p.id AND o.name_key = 'humanoverseer')`,
  urgent: sql`AND (SELECT m.importance FROM messages m WHERE m.id = d.message_id) = 'urgent'`,
  'ack-required': empty,
  'ack-overdue': empty,
}

/** Each view has two indexes: one of all deliveries in the order of the messages, whose condition says COALESCE, and one by recipient. */
function viewOf(db: Reader, view: LateView): { readonly all: readonly Part[]; readonly own: readonly Part[] } {
  if (view === 'unread') return { all: unreadParts(db, { anywhere: true }), own: unreadParts(db) }
  const whole = (where: Sql): readonly Part[] => [{ from: sql`deliveries d`, where }]
  return view === 'urgent'
    ? {
        all: whole(sql`d.urgent = 1 AND COALESCE(d.read_at, 0) = 0`),
        own: whole(sql`d.urgent = 1 AND d.read_at IS NULL`),
      }
    : {
        all: whole(sql`d.ack_wanted = 1 AND COALESCE(d.acked_at, 0) = 0 AND d.ended IS NULL`),
        own: whole(sql`d.ack_wanted = 1 AND d.acked_at IS NULL AND d.ended IS NULL`),
      }
}

interface Late {
  readonly parts: readonly Part[]
  /** The FROM and WHERE of the query. */
  readonly from: (part: Part) => Sql
}

async function late(
  db: Reader,
  { view, projectId, sight, sentBefore, below }: LateQuery,
  { ordered }: { ordered: boolean },
): Promise<Late> {
  const { all, own } = viewOf(db, view)
  const more = sql`${mostly[view]} ${sentWithin(sql`d.sent_at`, { until: sentBefore })}
    ${below === undefined ? empty : sql`AND d.message_id < ${below}`} ${sight.blind === 'all' ? empty : sql`AND ${toldOf(sight)}`}
    ${typeof sight.of === 'number' ? sql`AND d.recipient_id = ${sight.of}` : empty}`
  if (projectId === undefined)
    return { parts: all, from: ({ from, where }) => sql`FROM ${from} WHERE ${where} ${more}` }
  // In the order of the messages, where there are too many to sort.
  if (ordered && view === 'unread' && (await countUnreadIn(db, projectId)) > mostGathered)
    return {
      parts: all,
      from: ({ from, where }) => sql`
        FROM ${from} WHERE ${where} ${more} AND (SELECT r.project_id FROM agents r WHERE r.id = d.recipient_id) = ${projectId}`,
    }
  if (!can(db).lateralJoins)
    return {
      parts: own,
      from: ({ from, where }) => sql`
        FROM agents r JOIN ${from} ON d.recipient_id = r.id WHERE r.project_id = ${projectId} AND ${where} ${more}`,
    }
  // Agent by agent: PostgreSQL would rather look through the deliveries of all projects. It joins nothing with an OFFSET.
  return {
    parts: own,
    from: ({ from, where }) => sql`
      FROM agents r, LATERAL (SELECT d.* FROM ${from} WHERE d.recipient_id = r.id AND ${where} ${more} OFFSET 0) AS d
      WHERE r.project_id = ${projectId}`,
  }
}

/** The ids of messages, newest first. */
export async function listLate(db: Reader, query: LateQuery & { readonly limit: number }): Promise<number[]> {
  const { parts, from } = await late(db, query, { ordered: true })
  const rows = await db.all<{ id: number }>(sql`${messagesOf(parts, from)} ORDER BY id DESC LIMIT ${query.limit}`)
  return rows.map(({ id }) => id)
}

/** The messages of so many deliveries: beyond these nobody counts. */
export async function countLate(
  db: Reader,
  query: LateQuery & { readonly most: number },
): Promise<{ readonly messages: number; readonly more: boolean }> {
  const { parts, from } = await late(db, query, { ordered: false })
  const deliveries = selectParts(parts, (part) => sql`SELECT d.message_id ${from(part)}`)
  const [row] = await db.all<{ messages: number; deliveries: number }>(sql`
    SELECT COUNT(DISTINCT message_id) AS messages, COUNT(*) AS deliveries FROM (${deliveries} LIMIT ${query.most}) AS few`)
  return { messages: row?.messages ?? 0, more: (row?.deliveries ?? 0) >= query.most }
}

interface ReminderRow {
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
