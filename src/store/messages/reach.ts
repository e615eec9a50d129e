/** Facts about the recipients of a message, for its sender. */
import sql, { join } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { fromInbox, selectParts, unreadParts } from '../mail/boxes.ts'
import { readTime } from './deliveries.ts'

/** The unread mail of agents, and when each was last active. One text, however many are asked for. */
export const listCounters = (
  db: Reader,
  agentIds: readonly number[],
): Promise<{ id: number; unread: number; active_at: number }[]> =>
  db.all(sql`SELECT id, unread, active_at FROM agents WHERE id IN ${listed(db, agentIds)}`)

interface BehindRow {
  id: number
  active_at: number
  /** Unread messages before this one. */
  behind: number
}

/** The counter has all unread mail: those from this message on are found by an index. */
export function listBehind(db: Reader, agentIds: readonly number[], messageId: number): Promise<BehindRow[]> {
  const where = sql`AND d.message_id >= ${messageId} AND d.read_at IS NULL`
  return db.all<BehindRow>(sql`
    SELECT a.id, a.active_at, a.unread - (
      SELECT COUNT(*) FROM (${fromInbox(db, sql`1`, { recipientId: sql`a.id`, where })}) AS later) AS behind
    FROM agents a WHERE a.id IN (${join([...agentIds])})`)
}

/** When an agent read the messages right before its oldest unread one: as many rows of an index, however much mail there is. */
export async function listReadTimes(db: Reader, recipientId: number, limit: number): Promise<number[]> {
  const oldest = selectParts(
    unreadParts(db),
    ({ from, where }) => sql`
      SELECT * FROM (SELECT d.message_id FROM ${from} WHERE d.recipient_id = ${recipientId} AND ${where} ORDER BY d.id LIMIT 1) AS part`,
  )
  const where = sql`AND d.message_id < (SELECT MIN(message_id) FROM (${oldest}) AS parts)`
  const rows = await db.all<{ read_at: number | null }>(sql`
    ${fromInbox(db, sql`d.message_id, ${readTime} AS read_at`, { recipientId, where })} ORDER BY message_id DESC LIMIT ${limit}`)
  return rows.flatMap(({ read_at }) => read_at ?? [])
}
