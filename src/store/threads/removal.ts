/** Removing threads and their messages from every table they are in, a part at a time. */
import sql, { join, raw } from 'sql-template-tag'
import { forDelete } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { deleteFromOutbox } from '../mail/boxes.ts'
import { deleteUncarried, storedPaths } from '../messages/attachments.ts'
import { forgetWords } from '../search/search.ts'

/** Forgets the members of a thread, and those who were shown it. */
export async function deleteMembers(tx: Tx, threadId: number): Promise<void> {
  await tx.all(sql`DELETE FROM joins WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM cursors WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM grants WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM read_marks WHERE thread_id = ${threadId}`)
}

/** The status tells that it is on its way out. Its names are free for another thread. */
export async function updateAsDeleted(tx: Tx, threadId: number): Promise<void> {
  await tx.all(
    sql`UPDATE threads SET name = NULL, name_key = NULL, key = NULL, status = 'deleted' WHERE id = ${threadId}`,
  )
}

export async function listDeletedThreads(db: Reader): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`SELECT id FROM threads WHERE status = 'deleted' ORDER BY id`)
  return rows.map(({ id }) => id)
}

interface Part {
  threadId: number
  /** Only messages older than this `seq`: PostgreSQL would else step over the removed ones again. */
  before: number
  limit: number
}

/** A message that is about to go, as far as its rows elsewhere are found by it. */
export interface GoingRow {
  readonly id: number
  readonly seq: number
  readonly sender_id: number
  /** The sender's, which stores the files. */
  readonly sender_project: number
  /** JSON. */
  readonly attachments: string | null
}

/** Removes the newest messages of a part, with all rows that refer to them; returns them. */
export async function deleteNewestMessages(tx: Tx, { threadId, before, limit }: Part): Promise<GoingRow[]> {
  const rows = await tx.all<GoingRow & { project_id: number }>(sql`
    SELECT m.id, m.seq, m.sender_id, a.project_id AS sender_project, m.attachments, t.project_id
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id = ${threadId} AND m.seq < ${before} ORDER BY m.seq DESC LIMIT ${limit}`)
  const projectId = rows[0]?.project_id
  if (projectId !== undefined) await deleteMessages(tx, projectId, rows)
  return rows
}

/** The messages of whole threads. */
export const listGoing = (db: Reader, threadIds: readonly number[]): Promise<GoingRow[]> =>
  db.all<GoingRow>(sql`
    SELECT m.id, m.seq, m.sender_id, a.project_id AS sender_project, m.attachments
    FROM messages m JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id IN (${join([...threadIds])}) ORDER BY m.id`)

/** Removes messages of threads of one project, with all rows that refer to them. */
export async function deleteMessages(tx: Tx, projectId: number, rows: readonly GoingRow[]): Promise<void> {
  if (rows.length === 0) return
  // A list, not a query: with a query PostgreSQL would scan whole tables.
  const ids = join(rows.map(({ id }) => id))
  const deliveries = await tx.all<{ id: number; recipient_id: number; read_at: number | null }>(sql`
    DELETE FROM deliveries WHERE message_id IN (${ids}) RETURNING id, recipient_id, read_at`)
  if (deliveries.length > 0) {
    const deliveryIds = join(deliveries.map(({ id }) => id))
    await tx.all(sql`DELETE FROM announcements WHERE delivery_id IN (${deliveryIds})`)
    await tx.all(sql`DELETE FROM shared_mail WHERE delivery_id IN (${deliveryIds})`)
  }
  const guests = await tx.all<{ project_id: number; message_id: number }>(sql`
    DELETE FROM message_guests WHERE message_id IN (${ids}) RETURNING project_id, message_id`)
  for (const table of byMessage) await tx.all(sql`DELETE FROM ${raw(table)} WHERE message_id IN (${ids})`)
  if (rows.some(({ attachments }) => attachments !== null)) {
    await tx.all(sql`DELETE FROM inline_images WHERE message_id IN (${ids})`)
    await tx.all(sql`DELETE FROM attachment_carriers WHERE message_id IN (${ids})`)
  }
  // An answer within the thread is newer than its question: it is gone already, or goes now.
  await tx.all(sql`UPDATE messages SET reply_to = NULL WHERE reply_to IN (${ids}) AND id NOT IN (${ids})`)
  await tx.all(sql`DELETE FROM project_box WHERE project_id = ${projectId} AND message_id IN (${ids})`)
  for (const [guest, seen] of Map.groupBy(guests, ({ project_id }) => project_id))
    await tx.all(sql`
      DELETE FROM project_box
      WHERE project_id = ${guest} AND message_id IN (${join(seen.map(({ message_id }) => message_id))})`)
  await deleteFromOutbox(tx, rows)
  await forgetWords(tx, rows)
  await tx.all(sql`DELETE FROM messages WHERE id IN (${ids})`)
  await deleteFiles(tx, rows)
  const unread = deliveries.filter(({ read_at }) => read_at === null)
  await lowerUnread(
    tx,
    unread.map(({ recipient_id }) => recipient_id),
  )
}

/** Tables whose rows are found by the message alone. */
const byMessage = ['client_ids', 'repeated_ids', 'message_people', 'message_traces', 'reminders']

/** In one order, as sends store them. */
async function deleteFiles(tx: Tx, rows: readonly GoingRow[]): Promise<void> {
  const files = new Map<string, { projectId: number; path: string }>()
  for (const { sender_project: projectId, attachments } of rows)
    for (const path of storedPaths(attachments)) files.set(`${projectId} ${path}`, { projectId, path })
  for (const [, file] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) await deleteUncarried(tx, file)
}

/** Last, and in one order: on PostgreSQL the rows stay locked from here to the commit. */
async function lowerUnread(tx: Tx, recipients: readonly number[]): Promise<void> {
  const counts = new Map<number, number>()
  for (const id of recipients) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const [id, count] of [...counts].sort(([a], [b]) => a - b))
    await tx.all(sql`UPDATE agents SET unread = unread - ${count} WHERE id = ${id}`)
}

/** Removes a thread once its messages are gone, with members that joined meanwhile. */
export const deleteThread = (tx: Tx, threadId: number): Promise<void> => deleteThreads(tx, [threadId])

export async function deleteThreads(tx: Tx, threadIds: readonly number[]): Promise<void> {
  const ids = join([...threadIds])
  await tx.all(sql`SELECT id FROM threads WHERE id IN (${ids}) ORDER BY id ${forDelete(tx)}`)
  for (const table of byThread) await tx.all(sql`DELETE FROM ${raw(table)} WHERE thread_id IN (${ids})`)
  await tx.all(sql`DELETE FROM threads WHERE id IN (${ids})`)
}

/** Tables whose rows are found by the thread alone. */
const byThread = [
  'joins',
  'cursors',
  'grants',
  'read_marks',
  'thread_box',
  'conversations',
  'bridged_threads',
  'loop_threads',
]
