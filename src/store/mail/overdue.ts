/** Deliveries whose acknowledgement is overdue: found by an index of their own, marked once. */
import sql from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

export interface OverdueRow {
  id: number
  message_id: number
  subject: string | null
  sender: string
  recipient_id: number
  recipient: string
  project: string
  sent_at: number
}

/** Deliveries of mail sent up to `before`, neither acknowledged nor marked, the oldest first. */
export function listOverdue(db: Reader, before: number, limit: number): Promise<OverdueRow[]> {
  return db.all<OverdueRow>(sql`
    SELECT d.id, d.message_id, m.subject, s.name AS sender, d.recipient_id, r.name AS recipient, p.slug AS project, d.sent_at
    FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN agents s ON s.id = m.sender_id
      JOIN agents r ON r.id = d.recipient_id JOIN projects p ON p.id = r.project_id
    WHERE d.ack_wanted = 1 AND d.acked_at IS NULL AND d.escalated_at IS NULL AND d.sent_at <= ${before}
    ORDER BY d.sent_at, d.id LIMIT ${limit}`)
}

/** Marks those that are still not acknowledged, and returns their ids. */
export async function updateEscalated(tx: Tx, ids: readonly number[], now: number): Promise<Set<number>> {
  const rows = await tx.all<{ id: number }>(sql`
    UPDATE deliveries SET escalated_at = ${now}
    WHERE id IN ${listed(tx, ids)} AND acked_at IS NULL AND escalated_at IS NULL RETURNING id`)
  return new Set(rows.map(({ id }) => id))
}
