/** Inboxes, unread mail and outboxes: the rows of each, and how those that are new are filed. Exact at every moment, filed or not. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { can } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { fileInProjects } from './project-boxes.ts'

/** The deliveries (`d`) of an inbox; on SQLite in two halves, each in the order of an index. ORDER BY and LIMIT may follow. */
export function fromInbox(db: Reader, columns: Sql, { recipientId, where = empty }: InboxPart): Sql {
  const half = (filed: Sql): Sql => sql`
    SELECT ${columns} FROM deliveries d WHERE d.recipient_id = ${recipientId} ${filed} ${where}`
  return can(db).bulkFiling
    ? sql`${half(sql`AND d.filed = 1`)} UNION ALL ${half(sql`AND d.filed IS NULL`)}`
    : half(empty)
}

export interface InboxPart {
  readonly recipientId: number
  /** More conditions, which begin with AND. */
  readonly where?: Sql
}

/** Some deliveries (`d`): the table, with the index to take, and what is asked of its rows. */
export interface Half {
  readonly from: Sql
  readonly where: Sql
}

/**
 * On SQLite two halves, each by an index of its own; it would else choose that of all mail. `anywhere`: in the order of the messages,
 * whoever the recipient is; those that are not filed are few.
 */
export function unreadHalves(db: Reader, { anywhere = false } = {}): readonly Half[] {
  const unread = anywhere ? sql`COALESCE(d.read_at, 0) = 0` : sql`d.read_at IS NULL`
  if (!can(db).bulkFiling) return [{ from: sql`deliveries d`, where: unread }]
  const index = raw(anywhere ? 'deliveries_unread_anywhere' : 'deliveries_unread')
  return [
    { from: sql`deliveries d INDEXED BY ${index}`, where: sql`${unread} AND d.filed = 1` },
    {
      from: sql`deliveries d INDEXED BY deliveries_unread_unfiled`,
      where: sql`d.read_at IS NULL AND d.filed IS NULL`,
    },
  ]
}

/** The messages (`id`) of deliveries (`d`) in halves, each once. ORDER BY and LIMIT may follow. */
export function messagesIn(halves: readonly Sql[]): Sql {
  const [only, ...others] = halves.map((half) => sql`d.message_id AS id ${half}`)
  return others.length === 0 ? sql`SELECT DISTINCT ${only}` : sql`SELECT ${join([only, ...others], ' UNION SELECT ')}`
}

/** The unread deliveries (`d`) of an agent. ORDER BY and LIMIT may follow. */
export function fromUnread(db: Reader, columns: Sql, { recipientId, where = empty }: InboxPart): Sql {
  const halves = unreadHalves(db).map(
    (half) => sql`SELECT ${columns} FROM ${half.from} WHERE d.recipient_id = ${recipientId} AND ${half.where} ${where}`,
  )
  return join(halves, ' UNION ALL ')
}

/** The bounds of a part of an outbox; `above` and `below` are ids, `since` is a time. */
export interface OutboxPart {
  readonly senderId: number
  readonly above?: number | undefined
  readonly below?: number | undefined
  readonly since?: number | undefined
}

const lowest = -1
const highest = Number.MAX_SAFE_INTEGER

/**
 * Bounds of a time that stands in an index behind the ids. Without the sum PostgreSQL 18 plans a search of the index for each id,
 * finds that dear, and reads all messages instead: 700 ms among a million.
 */
export const sentWithin = (
  at: Sql,
  { since, until }: { since?: number | undefined; until?: number | undefined },
): Sql => sql`
  ${since === undefined ? empty : sql`AND ${at} + 0 > ${since}`} ${until === undefined ? empty : sql`AND ${at} + 0 <= ${until}`}`

/** The messages (`id`, `at`) of an outbox. ORDER BY and LIMIT may follow. */
export function fromOutbox(db: Reader, { senderId, above = lowest, below = highest, since }: OutboxPart): Sql {
  const sent = (from: Sql): Sql => sql`
    SELECT id, created_at AS at FROM messages
    WHERE sender_id = ${senderId} AND mail = 1 AND id > ${from} AND id < ${below} ${sentWithin(sql`created_at`, { since })}`
  if (!can(db).bulkFiling) return sent(sql`${above}`)
  return sql`
    SELECT message_id AS id, sent_at AS at FROM outbox
    WHERE sender_id = ${senderId} AND message_id > ${above} AND message_id < ${below} ${sentWithin(sql`sent_at`, { since })}
    UNION ALL ${sent(sql`MAX(${above}, (SELECT up_to FROM outbox_filed))`)}`
}

/** Files the next deliveries into inboxes and unread mail, so many of them; false if none is left after them. */
export async function fileDeliveries(tx: Tx, most: number): Promise<boolean> {
  // One agent after the other: their rows lie together.
  const filed = await tx.change(sql`
    UPDATE deliveries SET filed = 1 WHERE id IN (
      SELECT id FROM deliveries WHERE filed IS NULL ORDER BY recipient_id, message_id LIMIT ${most})`)
  return filed === most
}

/** The same for the next messages: into outboxes, projects and threads. */
export async function fileMessages(tx: Tx, most: number): Promise<boolean> {
  const [place] = await tx.all<{ up_to: number; newest: number | null }>(sql`
    SELECT up_to, (SELECT MAX(id) FROM messages) AS newest FROM outbox_filed`)
  const { up_to: from, newest } = { up_to: 0, ...place, newest: place?.newest ?? 0 }
  const upTo = Math.min(newest, from + most)
  if (upTo <= from) return false
  await tx.change(sql`
    INSERT INTO outbox (sender_id, message_id, sent_at)
    SELECT sender_id, id, created_at FROM messages
    WHERE id > ${from} AND id <= ${upTo} AND mail = 1 ORDER BY sender_id, id`)
  await fileInProjects(tx, from, upTo)
  await tx.change(sql`UPDATE outbox_filed SET up_to = ${upTo}`)
  return upTo < newest
}
