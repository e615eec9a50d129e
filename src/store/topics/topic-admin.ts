/** Topics for those who look after them: summaries, and a lock on one topic. */
import sql, { empty } from 'sql-template-tag'
import { forUpdate } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { findTopic, type TopicRow } from '../threads/threads.ts'

export interface TopicSummaryRow extends TopicRow {
  /** How many have joined it. */
  peers: number
  /** When its newest message was written. */
  last_at: number | null
}

/** The topics of a project, or one of them, the one with the latest activity first. */
export function listTopicSummaries(
  db: Reader,
  { projectId, status, id }: { projectId: number; status?: 'open' | 'closed' | undefined; id?: number },
): Promise<TopicSummaryRow[]> {
  return db.all<TopicSummaryRow>(sql`
    SELECT * FROM (
      SELECT t.id, t.uid, t.project_id, t.name, t.status, t.next_seq, t.created_at, t.closed_at, t.close_reason, t.metadata,
        (SELECT COUNT(*) FROM cursors c WHERE c.thread_id = t.id) AS peers,
        (SELECT m.created_at FROM messages m WHERE m.thread_id = t.id AND m.seq = t.next_seq - 1) AS last_at
      FROM threads t WHERE t.project_id = ${projectId} AND t.name_key IS NOT NULL
        ${status === undefined ? empty : sql`AND t.status = ${status}`} ${id === undefined ? empty : sql`AND t.id = ${id}`}
    ) AS topics ORDER BY COALESCE(last_at, created_at) DESC, id DESC`)
}

/** A topic that stays as it is until the transaction ends. */
export async function lockTopic(tx: Tx, projectId: number, uid: string): Promise<TopicRow | undefined> {
  await tx.all(sql`SELECT id FROM threads WHERE uid = ${uid} AND project_id = ${projectId} ${forUpdate(tx)}`)
  return findTopic(tx, projectId, uid)
}

export async function updateName(
  tx: Tx,
  { id, name, nameKey }: { id: number; name: string; nameKey: string },
): Promise<void> {
  await tx.all(sql`UPDATE threads SET name = ${name}, name_key = ${nameKey} WHERE id = ${id}`)
}
