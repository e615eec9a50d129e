/** The times of a message on its way to each recipient. */
import sql from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import { type Ending, readTime } from './deliveries.ts'

export interface TraceRow {
  recipient_id: number
  sent_at: number
  offered_at: number | null
  offered_via: string | null
  delivered_at: number | null
  read_at: number | null
  acked_at: number | null
  ended: Ending | null
}

export const listTraceRows = (db: Reader, messageId: number): Promise<TraceRow[]> =>
  db.all(sql`
    SELECT d.recipient_id, d.sent_at, d.offered_at, d.offered_via, d.delivered_at, ${readTime} AS read_at, d.acked_at, d.ended
    FROM deliveries d WHERE d.message_id = ${messageId} ORDER BY d.id`)
