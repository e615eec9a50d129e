/** Removing a topic from every table it is in, a part at a time. */
import sql, { join } from 'sql-template-tag'
import { forDelete } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

/** Forgets the members of a thread, and those who were shown it. */
export async function deleteMembers(tx: Tx, threadId: number): Promise<void> {
  await tx.all(sql`DELETE FROM joins WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM cursors WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM grants WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM read_marks WHERE thread_id = ${threadId}`)
}

/** A thread without a name is no topic; the status tells that it is on its way out. */
export async function updateAsDeleted(tx: Tx, threadId: number): Promise<void> {
  await tx.all(sql`UPDATE threads SET name = NULL, name_key = NULL, status = 'deleted' WHERE id = ${threadId}`)
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

/** Removes the newest messages of a part, with all rows that refer to them; returns the `seq` of each. */
export async function deleteNewestMessages(tx: Tx, { threadId, before, limit }: Part): Promise<number[]> {
  const rows = await tx.all<{ id: number; seq: number }>(sql`
    SELECT id, seq FROM messages WHERE thread_id = ${threadId} AND seq < ${before} ORDER BY seq DESC LIMIT ${limit}`)
  if (rows.length === 0) return []
  // A list, not a query: with a query PostgreSQL would scan whole tables.
  const ids = join(rows.map(({ id }) => id))
  const deliveries = await tx.all<{ recipient_id: number; read_at: number | null }>(sql`
    DELETE FROM deliveries WHERE message_id IN (${ids}) RETURNING recipient_id, read_at`)
  await tx.all(sql`DELETE FROM client_ids WHERE message_id IN (${ids})`)
  await tx.all(sql`DELETE FROM repeated_ids WHERE message_id IN (${ids})`)
  await tx.all(sql`DELETE FROM message_guests WHERE message_id IN (${ids})`)
  await tx.all(sql`DELETE FROM message_people WHERE message_id IN (${ids})`)
  // An answer within the thread is newer than its question: it is gone already, or goes now.
  await tx.all(sql`UPDATE messages SET reply_to = NULL WHERE reply_to IN (${ids}) AND thread_id <> ${threadId}`)
  await tx.all(sql`
    DELETE FROM project_box
    WHERE project_id = (SELECT project_id FROM threads WHERE id = ${threadId}) AND message_id IN (${ids})`)
  await tx.all(sql`DELETE FROM messages WHERE id IN (${ids})`)
  const unread = deliveries.filter(({ read_at }) => read_at === null)
  await lowerUnread(
    tx,
    unread.map(({ recipient_id }) => recipient_id),
  )
  return rows.map(({ seq }) => seq)
}

/** Last, and in one order: on PostgreSQL the rows stay locked from here to the commit. */
async function lowerUnread(tx: Tx, recipients: readonly number[]): Promise<void> {
  const counts = new Map<number, number>()
  for (const id of recipients) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const [id, count] of [...counts].sort(([a], [b]) => a - b))
    await tx.all(sql`UPDATE agents SET unread = unread - ${count} WHERE id = ${id}`)
}

/** Removes the thread itself once its messages are gone, with members that joined meanwhile. */
export async function deleteThread(tx: Tx, threadId: number): Promise<void> {
  await tx.all(sql`SELECT id FROM threads WHERE id = ${threadId} ${forDelete(tx)}`)
  await deleteMembers(tx, threadId)
  await tx.all(sql`DELETE FROM thread_box WHERE thread_id = ${threadId}`)
  await tx.all(sql`DELETE FROM threads WHERE id = ${threadId}`)
}
