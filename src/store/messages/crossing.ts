/** Mail of an agent in one thread that it has not seen, or that is newer than what it has seen. */
import sql from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'

interface CrossingQuery {
  readonly agentId: number
  readonly threadId: number
  readonly limit: number
}

/** Unread messages whose text was not given out either, among those of these places in the thread, the oldest first. */
export async function listUnseenInThread(
  db: Reader,
  { agentId, threadId, from, before, except, limit }: CrossingQuery & { from: number; before: number; except: number },
): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT m.id FROM messages m JOIN deliveries d ON d.message_id = m.id AND d.recipient_id = ${agentId}
    WHERE m.thread_id = ${threadId} AND m.seq >= ${from} AND m.seq < ${before} AND m.sender_id <> ${agentId}
      AND m.id <> ${except} AND d.read_at IS NULL AND d.delivered_at IS NULL
    ORDER BY m.seq LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}

/** Messages of others to the agent after this one, read or not, the oldest first. */
export async function listNewerInThread(
  db: Reader,
  { agentId, threadId, after, limit }: CrossingQuery & { after: number },
): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT m.id FROM messages m WHERE m.thread_id = ${threadId} AND m.id > ${after} AND m.sender_id <> ${agentId}
      AND EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.recipient_id = ${agentId})
    ORDER BY m.id LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}
