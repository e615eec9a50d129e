/** Rows of `message_traces`: the trace in which a message was sent. Only a process that traces writes and reads them. */
import sql from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

interface NewTrace {
  messageId: number
  traceparent: string
  now: number
}

export function insertTrace(tx: Tx, { messageId, traceparent, now }: NewTrace): void {
  tx.enqueue(
    sql`INSERT INTO message_traces (message_id, traceparent, sent_at) VALUES (${messageId}, ${traceparent}, ${now})`,
  )
}

export async function listTraceparents(db: Reader, messageIds: readonly number[]): Promise<string[]> {
  const rows = await db.all<{ traceparent: string }>(
    sql`SELECT traceparent FROM message_traces WHERE message_id IN ${listed(db, messageIds)} ORDER BY message_id`,
  )
  return rows.map(({ traceparent }) => traceparent)
}

/** Deletes some that were sent before a time; returns how many. Ids grow with time: no index is needed. */
export function deleteTraces(tx: Tx, before: number, limit: number): Promise<number> {
  return tx.change(sql`
    DELETE FROM message_traces WHERE sent_at < ${before} AND message_id IN (
      SELECT message_id FROM message_traces ORDER BY message_id LIMIT ${limit})`)
}
