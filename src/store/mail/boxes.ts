/** The boxes: inboxes, unread mail, outboxes, the mail of projects, threads by their newest message. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { can, skipLocked } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { isContact } from '../contacts/contacts.ts'
import { type ThreadFilter, threadWhere } from '../pages/threads.ts'

// On SQLite each box is two halves: rows that `fileDeliveries` and `fileMessages` have put into its index, and newer rows. Only this file
// knows that: every read through it is exact, filed or not.

/** Messages up to this id are filed. */
const filedUpTo = sql`(SELECT up_to FROM outbox_filed)`

/** Bounds of ids, without themselves. */
export interface Bounds {
  readonly above?: number | undefined
  readonly below?: number | undefined
}

const lowest = -1
const highest = Number.MAX_SAFE_INTEGER

/** The deliveries (`d`) of an inbox. ORDER BY and LIMIT may follow. */
export function fromInbox(db: Reader, columns: Sql, { recipientId, where = empty }: InboxPart): Sql {
  const half = (filed: Sql): Sql => sql`
    SELECT ${columns} FROM deliveries d WHERE d.recipient_id = ${recipientId} ${filed} ${where}`
  return can(db).bulkFiling
    ? sql`${half(sql`AND d.filed = 1`)} UNION ALL ${half(sql`AND d.filed IS NULL`)}`
    : half(empty)
}

interface InboxPart {
  readonly recipientId: number | Sql
  /** More conditions, which begin with AND. */
  readonly where?: Sql
}

/** A part of some deliveries (`d`): the table, with the index to take, and the condition on its rows. */
export interface Part {
  readonly from: Sql
  readonly where: Sql
}

/** Unread mail: `anywhere` in the order of the messages, for all recipients; else agent by agent. */
export function unreadParts(db: Reader, { anywhere = false } = {}): readonly Part[] {
  const unread = anywhere ? sql`COALESCE(d.read_at, 0) = 0` : sql`d.read_at IS NULL`
  if (!can(db).bulkFiling) return [{ from: sql`deliveries d`, where: unread }]
  // SQLite would choose the index of all mail.
  const index = raw(anywhere ? 'deliveries_unread_anywhere' : 'deliveries_unread')
  return [
    { from: sql`deliveries d INDEXED BY ${index}`, where: sql`${unread} AND d.filed = 1` },
    {
      from: sql`deliveries d INDEXED BY deliveries_unread_unfiled`,
      where: sql`d.read_at IS NULL AND d.filed IS NULL`,
    },
  ]
}

/** One SELECT over all parts. ORDER BY and LIMIT may follow. */
export const selectParts = (parts: readonly Part[], select: (part: Part) => Sql): Sql =>
  join(parts.map(select), ' UNION ALL ')

/** The messages (`id`) of deliveries, each once; `from` writes FROM and WHERE. ORDER BY and LIMIT may follow. */
export function messagesOf(parts: readonly Part[], from: (part: Part) => Sql): Sql {
  const [only, ...others] = parts.map((part) => sql`d.message_id AS id ${from(part)}`)
  return others.length === 0 ? sql`SELECT DISTINCT ${only}` : sql`SELECT ${join([only, ...others], ' UNION SELECT ')}`
}

/** The unread deliveries (`d`) of an agent. ORDER BY and LIMIT may follow. */
export const fromUnread = (db: Reader, columns: Sql, { recipientId, where = empty }: InboxPart): Sql =>
  selectParts(
    unreadParts(db),
    (part) => sql`SELECT ${columns} FROM ${part.from} WHERE d.recipient_id = ${recipientId} AND ${part.where} ${where}`,
  )

interface Free {
  readonly recipientId: number
  readonly now: number
}

/** The oldest unread message of an agent that is not on loan, its row locked. Written out, as the statements of a send are. */
export function oldestFree(tx: Tx, { recipientId, now }: Free): Sql {
  if (can(tx).bulkFiling)
    return sql`
      SELECT d.id AS delivery_id, m.id AS message_id, m.uid, m.client_id, s.name AS sender, s.project_id AS sender_project,
        ${isContact({ reader: recipientId, sender: sql`m.sender_id`, now })} AS contact, m.subject, m.importance, m.ack_required, m.body,
        m.created_at, r.keyed
      FROM deliveries d JOIN agents r ON r.id = d.recipient_id JOIN messages m ON m.id = d.message_id
        JOIN agents s ON s.id = m.sender_id
      WHERE d.id = (SELECT MIN(id) FROM (
        SELECT * FROM (SELECT f.id FROM deliveries f INDEXED BY deliveries_unread
          WHERE f.recipient_id = ${recipientId} AND f.read_at IS NULL AND f.filed = 1 AND (f.held_until IS NULL OR f.held_until <= ${now}) AND (f.expires_at IS NULL OR f.expires_at > ${now}) ORDER BY f.id LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT n.id FROM deliveries n INDEXED BY deliveries_unread_unfiled
          WHERE n.recipient_id = ${recipientId} AND n.read_at IS NULL AND n.filed IS NULL AND (n.held_until IS NULL OR n.held_until <= ${now}) AND (n.expires_at IS NULL OR n.expires_at > ${now}) ORDER BY n.id LIMIT 1)))`
  return sql`
    SELECT d.id AS delivery_id, m.id AS message_id, m.uid, m.client_id, s.name AS sender, s.project_id AS sender_project,
      ${isContact({ reader: recipientId, sender: sql`m.sender_id`, now })} AS contact, m.subject, m.importance, m.ack_required, m.body,
      m.created_at, r.keyed
    FROM deliveries d JOIN agents r ON r.id = d.recipient_id JOIN messages m ON m.id = d.message_id
      JOIN agents s ON s.id = m.sender_id
    WHERE d.recipient_id = ${recipientId} AND d.read_at IS NULL AND (d.held_until IS NULL OR d.held_until <= ${now}) AND (d.expires_at IS NULL OR d.expires_at > ${now})
    ORDER BY d.id LIMIT 1 ${skipLocked(tx, 'd')}`
}

/** Selects a row if there is such a message. */
export const anyFree = (db: Reader, { recipientId, now }: Free): Sql =>
  can(db).bulkFiling
    ? sql`SELECT 1 WHERE EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_unread
          WHERE recipient_id = ${recipientId} AND read_at IS NULL AND filed = 1 AND (held_until IS NULL OR held_until <= ${now}) AND (expires_at IS NULL OR expires_at > ${now}))
        OR EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_unread_unfiled
          WHERE recipient_id = ${recipientId} AND read_at IS NULL AND filed IS NULL AND (held_until IS NULL OR held_until <= ${now}) AND (expires_at IS NULL OR expires_at > ${now}))`
    : sql`SELECT 1 FROM deliveries WHERE recipient_id = ${recipientId} AND read_at IS NULL
        AND (held_until IS NULL OR held_until <= ${now}) AND (expires_at IS NULL OR expires_at > ${now}) LIMIT 1`

interface OutboxPart extends Bounds {
  readonly senderId: number
  readonly since?: number | undefined
}

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
    UNION ALL ${sent(sql`MAX(${above}, ${filedUpTo})`)}`
}

/** Gives one agent the outbox of another. */
export async function moveOutbox(tx: Tx, { from, into }: { from: number; into: number }): Promise<void> {
  if (can(tx).bulkFiling) await tx.change(sql`UPDATE outbox SET sender_id = ${into} WHERE sender_id = ${from}`)
}

/** Takes messages out of the outboxes of their senders. */
export async function deleteFromOutbox(tx: Tx, rows: readonly { id: number; sender_id: number }[]): Promise<void> {
  if (!can(tx).bulkFiling) return
  for (const [senderId, sent] of Map.groupBy(rows, ({ sender_id }) => sender_id))
    await tx.all(sql`
      DELETE FROM outbox WHERE sender_id = ${senderId} AND message_id IN (${join(sent.map(({ id }) => id))})`)
}

/** The messages (`id`) that a project sees. ORDER BY and LIMIT may follow. */
export function fromProject(
  db: Reader,
  projectId: number,
  { above = lowest, below = highest, importance }: Bounds & { readonly importance?: string | undefined },
  where: Sql = empty,
): Sql {
  // Messages of any other importance than the usual have an index of their own.
  const rare =
    importance === undefined || importance === 'normal'
      ? empty
      : sql`AND b.importance = ${importance} AND b.importance <> 'normal'`
  const box = sql`
    SELECT b.message_id AS id FROM project_box b JOIN messages m ON m.id = b.message_id
    WHERE b.project_id = ${projectId} ${rare} AND b.message_id > ${above} AND b.message_id < ${below} ${where}`
  if (!can(db).bulkFiling) return box
  return sql`${box} UNION ALL
    SELECT m.id FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id > MAX(${above}, ${filedUpTo}) AND m.id < ${below} ${where} AND (t.project_id = ${projectId} OR EXISTS (
      SELECT 1 FROM message_guests g
      WHERE g.project_id = ${projectId} AND g.thread_id = m.thread_id AND g.message_id = m.id))`
}

/** The messages (`id`) that some agents sent, mail and words in topics. */
export function fromSenders(
  db: Reader,
  senders: Sql,
  { above = lowest, below = highest }: Bounds,
  where: Sql = empty,
): Sql {
  const box = sql`
    SELECT b.message_id AS id FROM project_box b JOIN messages m ON m.id = b.message_id
    WHERE b.sender_id IN ${senders} AND b.home = 1 AND b.message_id > ${above} AND b.message_id < ${below} ${where}`
  if (!can(db).bulkFiling) return box
  return sql`${box} UNION ALL
    SELECT m.id FROM messages m
    WHERE m.id > MAX(${above}, ${filedUpTo}) AND m.id < ${below} AND m.sender_id IN ${senders} ${where}`
}

interface LastRow {
  thread_id: number
  last_id: number
}

/** Threads of a project, or of all, by their newest message; those whose newest is below an id. */
export async function listLast(
  db: Reader,
  { projectId, below = highest, filter = {}, limit }: LastQuery,
): Promise<LastRow[]> {
  const where = threadWhere(filter)
  const inProject = (table: string): Sql =>
    projectId === undefined
      ? empty
      : table === 'b'
        ? sql`AND b.project_id = ${projectId}`
        : sql`AND t.project_id = ${projectId}`
  const box = (except: Sql): Sql => sql`
    SELECT b.thread_id, b.last_id FROM thread_box b JOIN threads t ON t.id = b.thread_id
    WHERE b.last_id < ${below} ${inProject('b')} AND t.status <> 'deleted' ${where} ${except}
    ORDER BY b.last_id DESC LIMIT ${limit}`
  // Topics are few beside the threads of mail, and have an index of their own. Nothing else is ever closed.
  if (projectId !== undefined && (filter.kind === 'topic' || filter.status === 'closed'))
    return db.all<LastRow>(sql`
      SELECT thread_id, last_id FROM (
        SELECT t.id AS thread_id,
          (SELECT l.id FROM messages l WHERE l.thread_id = t.id AND l.seq = t.next_seq - 1) AS last_id
        FROM threads t WHERE t.project_id = ${projectId} AND t.name_key IS NOT NULL ${where}
      ) AS topics WHERE last_id < ${below} ORDER BY last_id DESC LIMIT ${limit}`)
  if (!can(db).bulkFiling) return db.all<LastRow>(box(empty))
  // A thread that went on since is in the second half alone, with its newest message.
  // The plus keeps SQLite from going through all messages in the order of their threads.
  const fresh = await db.all<LastRow>(sql`
    SELECT m.thread_id, MAX(m.id) AS last_id FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id > ${filedUpTo} AND t.status <> 'deleted' ${inProject('t')} ${where} GROUP BY +m.thread_id`)
  const moved = new Set(fresh.map(({ thread_id }) => thread_id))
  const old = await db.all<LastRow>(
    box(sql`AND NOT EXISTS (
    SELECT 1 FROM messages n WHERE n.thread_id = b.thread_id AND n.seq = t.next_seq - 1 AND n.id <> b.last_id)`),
  )
  return [...fresh.filter(({ last_id }) => last_id < below), ...old.filter(({ thread_id }) => !moved.has(thread_id))]
    .sort((a, b) => b.last_id - a.last_id)
    .slice(0, limit)
}

interface LastQuery {
  readonly projectId?: number | undefined
  readonly below?: number | undefined
  readonly filter?: ThreadFilter
  readonly limit: number
}

/** Files the next deliveries into inboxes and unread mail, so many of them; false if none is left after them. */
export async function fileDeliveries(tx: Tx, most: number): Promise<boolean> {
  // One agent after the other: their rows lie together.
  const filed = await tx.change(sql`
    UPDATE deliveries SET filed = 1 WHERE id IN (
      SELECT id FROM deliveries WHERE filed IS NULL ORDER BY recipient_id, message_id LIMIT ${most})`)
  return filed === most
}

/** Files the next messages into outboxes, projects and threads. */
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

async function fileInProjects(tx: Tx, from: number, upTo: number): Promise<void> {
  const range = sql`m.id > ${from} AND m.id <= ${upTo}`
  await tx.change(sql`
    INSERT INTO project_box (project_id, message_id, sender_id, importance, home)
    SELECT t.project_id, m.id, m.sender_id, m.importance, 1 FROM messages m JOIN threads t ON t.id = m.thread_id WHERE ${range}
    UNION ALL
    SELECT g.project_id, m.id, m.sender_id, m.importance, 0
    FROM messages m JOIN message_guests g ON g.message_id = m.id JOIN threads t ON t.id = m.thread_id
    WHERE ${range} AND g.project_id <> t.project_id
    ORDER BY 1, 2 ON CONFLICT DO NOTHING`)
  await tx.change(sql`
    INSERT INTO thread_box (thread_id, project_id, last_id)
    SELECT t.id, t.project_id, MAX(m.id) FROM messages m JOIN threads t ON t.id = m.thread_id WHERE ${range} GROUP BY t.id
    ON CONFLICT (thread_id) DO UPDATE SET last_id = excluded.last_id`)
}
