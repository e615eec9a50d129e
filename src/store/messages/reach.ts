/** Facts about the recipients of a message, for its sender. */
import sql, { join } from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import { fromInbox } from '../mail/boxes.ts'

export interface ReachRow {
  id: number
  active_at: number
  /** Unread messages before this one. */
  behind: number
}

/** The counter has all unread mail: those from this message on are few, and found by an index. */
export function listReachFacts(db: Reader, agentIds: readonly number[], messageId: number): Promise<ReachRow[]> {
  const where = sql`AND d.message_id >= ${messageId} AND d.read_at IS NULL`
  return db.all<ReachRow>(sql`
    SELECT a.id, a.active_at, a.unread - (
      SELECT COUNT(*) FROM (${fromInbox(db, sql`1`, { recipientId: sql`a.id`, where })}) AS later) AS behind
    FROM agents a WHERE a.id IN (${join([...agentIds])})`)
}
