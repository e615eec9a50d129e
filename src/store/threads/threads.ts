/** Rows of `threads`, and the counter from which each thread's order comes. */
import sql, { empty, type Sql } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

interface NewThread {
  uid: string
  projectId: number
  /** Its name in mail. */
  key?: string | undefined
  /** The first `seq` that is still free. */
  nextSeq: number
  now: number
}

export function insertThread(tx: Tx, { uid, projectId, key, nextSeq, now }: NewThread): Promise<number> {
  return tx.insert(sql`
    INSERT INTO threads (uid, project_id, key, next_seq, created_at)
    VALUES (${uid}, ${projectId}, ${key ?? null}, ${nextSeq}, ${now})`)
}

/**
 * The next number of a thread; undefined if there is none, or it has to be open and was closed, perhaps a moment ago. SQLite's:
 * where one writes at a time, looking first costs less than half of a RETURNING.
 */
export async function takeSeq(tx: Tx, threadId: number, { open }: { open: boolean }): Promise<number | undefined> {
  const [row] = await tx.all<{ seq: number }>(
    open
      ? sql`SELECT next_seq AS seq FROM threads WHERE id = ${threadId} AND status = 'open'`
      : sql`SELECT next_seq AS seq FROM threads WHERE id = ${threadId}`,
  )
  if (row !== undefined) tx.enqueue(sql`UPDATE threads SET next_seq = ${row.seq + 1} WHERE id = ${threadId}`)
  return row?.seq
}

/** A topic is a thread with a name. */
export interface TopicRow {
  id: number
  uid: string
  project_id: number
  name: string
  status: 'open' | 'closed'
  next_seq: number
  created_at: number
  closed_at: number | null
  close_reason: string | null
  metadata: string | null
}

const topicColumns = sql`id, uid, project_id, name, status, next_seq, created_at, closed_at, close_reason, metadata`

async function first(db: Reader, query: Sql): Promise<TopicRow | undefined> {
  const [row] = await db.all<TopicRow>(query)
  return row
}

interface NewTopic {
  uid: string
  projectId: number
  name: string
  nameKey: string
  metadata: string | undefined
  now: number
}

export async function insertTopic(
  tx: Tx,
  { uid, projectId, name, nameKey, metadata, now }: NewTopic,
): Promise<TopicRow> {
  const row = await first(
    tx,
    sql`
    INSERT INTO threads (uid, project_id, name, name_key, metadata, next_seq, created_at)
    VALUES (${uid}, ${projectId}, ${name}, ${nameKey}, ${metadata ?? null}, 1, ${now}) RETURNING ${topicColumns}`,
  )
  return row as TopicRow
}

export const findTopic = (db: Reader, projectId: number, uid: string): Promise<TopicRow | undefined> =>
  first(
    db,
    sql`SELECT ${topicColumns} FROM threads WHERE uid = ${uid} AND project_id = ${projectId} AND name IS NOT NULL`,
  )

/** The newest topic of a name: an open one before a closed one. */
export const findTopicNamed = (db: Reader, projectId: number, nameKey: string): Promise<TopicRow | undefined> =>
  first(
    db,
    sql`
    SELECT ${topicColumns} FROM threads WHERE project_id = ${projectId} AND name_key = ${nameKey}
    ORDER BY CASE status WHEN 'open' THEN 0 ELSE 1 END, id DESC LIMIT 1`,
  )

interface TopicsWish {
  projectId: number
  status: 'open' | 'closed' | undefined
  /** Only topics with a lower id. */
  before?: number | undefined
  limit: number
}

/** Newest first. */
export const listTopics = (db: Reader, { projectId, status, before, limit }: TopicsWish): Promise<TopicRow[]> =>
  db.all<TopicRow>(sql`
    SELECT ${topicColumns} FROM threads WHERE project_id = ${projectId} AND name_key IS NOT NULL
    ${status === undefined ? empty : sql`AND status = ${status}`} ${before === undefined ? empty : sql`AND id < ${before}`}
    ORDER BY id DESC LIMIT ${limit}`)

/** Closes or reopens; undefined if it is in that state already, or was deleted a moment ago and has no name any more. */
export const updateStatus = (
  tx: Tx,
  id: number,
  { status, closedAt, reason }: { status: 'open' | 'closed'; closedAt: number | undefined; reason: string | undefined },
): Promise<TopicRow | undefined> =>
  first(
    tx,
    sql`
    UPDATE threads SET status = ${status}, closed_at = ${closedAt ?? null}, close_reason = ${reason ?? null}
    WHERE id = ${id} AND status <> ${status} AND name IS NOT NULL RETURNING ${topicColumns}`,
  )

export async function findHighestSeq(db: Reader, threadId: number): Promise<number> {
  const [row] = await db.all<{ seq: number }>(sql`SELECT next_seq - 1 AS seq FROM threads WHERE id = ${threadId}`)
  return row?.seq ?? 0
}
