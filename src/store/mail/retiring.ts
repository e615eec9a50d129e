/** Old mail that may be moved out: threads that nobody has written to for long, and the files that only their messages carry. */
import sql, { join, type Sql } from 'sql-template-tag'
import { forDelete } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { storedPaths } from '../messages/attachments.ts'

interface QuietQuery {
  readonly projectId: number
  /** Threads whose newest message has a higher id. */
  readonly after: number
  /** Threads whose newest message is older than this. */
  readonly before: number
  /** How many threads are looked at. */
  readonly limit: number
}

/** Threads of mail, by their newest message. `last`: where the next page goes on; undefined behind the last page. */
export async function listQuiet(
  db: Reader,
  { projectId, after, before, limit }: QuietQuery,
): Promise<{ readonly ids: readonly number[]; readonly last: number | undefined }> {
  const rows = await db.all<{ id: number; last_id: number; quiet: number }>(sql`
    SELECT b.thread_id AS id, b.last_id, CASE WHEN t.name IS NULL AND t.status <> 'deleted' AND EXISTS (
      SELECT 1 FROM messages m WHERE m.id = b.last_id AND m.mail = 1 AND m.created_at < ${before}) THEN 1 ELSE 0 END AS quiet
    FROM (SELECT thread_id, last_id FROM thread_box WHERE project_id = ${projectId} AND last_id > ${after}
      ORDER BY last_id LIMIT ${limit}) AS b JOIN threads t ON t.id = b.thread_id ORDER BY b.last_id`)
  const ids = rows.filter(({ quiet }) => quiet === 1).map(({ id }) => id)
  return { ids, last: rows.length < limit ? undefined : rows.at(-1)?.last_id }
}

/** The part of a sender in a thread. */
export interface QuietRow {
  readonly thread_id: number
  readonly next_seq: number
  readonly sender_id: number
  readonly sender: string
  readonly sender_project: string
  readonly messages: number
  /** Of the bodies. */
  readonly bytes: number
  readonly newest: number
  /** 0 if some of them are no mail. */
  readonly mail: number
  /** How many of them somebody has not read or acknowledged, or that came back as dead letters. */
  readonly open: number
}

/** Mail that expired was told to its sender: nobody waits for it any more. */
const isOpen: Sql = sql`
  d.read_at IS NULL OR d.ended = 'dead' OR (d.ended IS NULL AND d.ack_wanted = 1 AND d.acked_at IS NULL)`

export function listQuietParts(db: Reader, threadIds: readonly number[]): Promise<QuietRow[]> {
  if (threadIds.length === 0) return Promise.resolve([])
  return db.all<QuietRow>(sql`
    SELECT p.thread_id, t.next_seq, p.sender_id, a.name AS sender, o.slug AS sender_project, p.messages, p.bytes, p.newest,
      p.mail, p.open
    FROM (
      SELECT m.thread_id, m.sender_id, COUNT(*) AS messages, SUM(octet_length(m.body)) AS bytes, MAX(m.created_at) AS newest,
        MIN(m.mail) AS mail,
        SUM(CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND (${isOpen})) THEN 1 ELSE 0 END) AS open
      FROM messages m WHERE m.thread_id IN (${join([...threadIds])}) GROUP BY m.thread_id, m.sender_id
    ) AS p JOIN threads t ON t.id = p.thread_id JOIN agents a ON a.id = p.sender_id JOIN projects o ON o.id = a.project_id
    ORDER BY p.thread_id, p.sender_id`)
}

/** Nobody writes to these threads until the transaction ends. */
export async function lockThreads(tx: Tx, threadIds: readonly number[]): Promise<void> {
  await tx.all(sql`SELECT id FROM threads WHERE id IN (${join([...threadIds])}) ORDER BY id ${forDelete(tx)}`)
}

interface Copies {
  readonly sha1: string
  readonly projectId: number
}

/** Whether a project has a copy of a message that carries this content. */
export async function isCarried(db: Reader, { sha1, projectId }: Copies): Promise<boolean> {
  const rows = await db.all(sql`
    SELECT 1 FROM attachment_carriers c JOIN messages m ON m.id = c.message_id JOIN agents s ON s.id = m.sender_id
    WHERE c.sha1 = ${sha1} AND (s.project_id = ${projectId} OR EXISTS (
      SELECT 1 FROM deliveries d JOIN agents r ON r.id = d.recipient_id
      WHERE d.message_id = m.id AND r.project_id = ${projectId})) LIMIT 1`)
  return rows.length > 0
}

/** The bytes of the files that messages of these threads carry, each file once. */
export async function sumFiles(db: Reader, threadIds: readonly number[]): Promise<number> {
  if (threadIds.length === 0) return 0
  const rows = await db.all<{ project_id: number; attachments: string }>(sql`
    SELECT a.project_id, m.attachments FROM messages m JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id IN (${join([...threadIds])}) AND m.attachments IS NOT NULL`)
  let bytes = 0
  for (const [projectId, carried] of Map.groupBy(rows, ({ project_id }) => project_id)) {
    const paths = [...new Set(carried.flatMap(({ attachments }) => storedPaths(attachments)))]
    if (paths.length === 0) continue
    const [row] = await db.all<{ bytes: number | null }>(sql`
      SELECT SUM(size) AS bytes FROM attachments WHERE project_id = ${projectId} AND path IN (${join(paths)})`)
    bytes += Number(row?.bytes ?? 0)
  }
  return bytes
}

/** The messages of threads, with each project that has a copy in its archive. */
export function listInvolved(
  db: Reader,
  threadIds: readonly number[],
): Promise<{ thread_id: number; message_id: number; project_id: number }[]> {
  const threads = sql`m.thread_id IN (${join([...threadIds])})`
  return db.all(sql`
    SELECT m.thread_id, m.id AS message_id, a.project_id FROM messages m JOIN agents a ON a.id = m.sender_id WHERE ${threads}
    UNION
    SELECT m.thread_id, m.id, r.project_id FROM messages m JOIN deliveries d ON d.message_id = m.id
      JOIN agents r ON r.id = d.recipient_id WHERE ${threads}
    ORDER BY 1, 2, 3`)
}
