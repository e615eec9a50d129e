/** The mail of projects and the threads by their newest message. Exact at every moment; on SQLite filed behind the sends. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { can } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { type ThreadFilter, threadWhere } from '../pages/threads.ts'

/** Messages above an id are not filed yet: `fileMessages` in boxes.ts moves it. PostgreSQL files at once. */
const filed = sql`(SELECT up_to FROM outbox_filed)`

/** Bounds of ids, without themselves. */
export interface Bounds {
  readonly above?: number | undefined
  readonly below?: number | undefined
}

const lowest = -1
const highest = Number.MAX_SAFE_INTEGER

/** The messages (`id`) that a project sees. ORDER BY and LIMIT may follow, with which `newestFirst` goes together. */
export function fromProject(
  db: Reader,
  projectId: number,
  { above = lowest, below = highest, importance }: Bounds & { readonly importance?: string | undefined },
  where: Sql = empty,
): Sql {
  // Messages of any other importance than the usual have an index of their own.
  const rare =
    importance === undefined || importance === 'normal'
      ? empty
      : sql`AND b.importance = ${importance} AND b.importance <> 'normal'`
  const box = sql`
    SELECT b.message_id AS id FROM project_box b JOIN messages m ON m.id = b.message_id
    WHERE b.project_id = ${projectId} ${rare} AND b.message_id > ${above} AND b.message_id < ${below} ${where}`
  if (!can(db).bulkFiling) return box
  return sql`${box} UNION ALL
    SELECT m.id FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id > MAX(${above}, ${filed}) AND m.id < ${below} ${where} AND (t.project_id = ${projectId} OR EXISTS (
      SELECT 1 FROM message_guests g
      WHERE g.project_id = ${projectId} AND g.thread_id = m.thread_id AND g.message_id = m.id))`
}

/** The messages (`id`) that some agents sent, mail and words in topics. */
export function fromSenders(
  db: Reader,
  senders: Sql,
  { above = lowest, below = highest }: Bounds,
  where: Sql = empty,
): Sql {
  const box = sql`
    SELECT b.message_id AS id FROM project_box b JOIN messages m ON m.id = b.message_id
    WHERE b.sender_id IN ${senders} AND b.home = 1 AND b.message_id > ${above} AND b.message_id < ${below} ${where}`
  if (!can(db).bulkFiling) return box
  return sql`${box} UNION ALL
    SELECT m.id FROM messages m
    WHERE m.id > MAX(${above}, ${filed}) AND m.id < ${below} AND m.sender_id IN ${senders} ${where}`
}

export interface LastRow {
  thread_id: number
  last_id: number
}

/** Threads of a project, or of all, by their newest message; those whose newest is below an id. */
export async function listLast(
  db: Reader,
  { projectId, below = highest, filter = {}, limit }: LastQuery,
): Promise<LastRow[]> {
  const where = threadWhere(filter)
  const inProject = (table: string): Sql =>
    projectId === undefined
      ? empty
      : table === 'b'
        ? sql`AND b.project_id = ${projectId}`
        : sql`AND t.project_id = ${projectId}`
  const box = (except: Sql): Sql => sql`
    SELECT b.thread_id, b.last_id FROM thread_box b JOIN threads t ON t.id = b.thread_id
    WHERE b.last_id < ${below} ${inProject('b')} AND t.status <> 'deleted' ${where} ${except}
    ORDER BY b.last_id DESC LIMIT ${limit}`
  // Topics are few beside the threads of mail, and have an index of their own. Nothing else is ever closed.
  if (projectId !== undefined && (filter.kind === 'topic' || filter.status === 'closed'))
    return db.all<LastRow>(sql`
      SELECT thread_id, last_id FROM (
        SELECT t.id AS thread_id,
          (SELECT l.id FROM messages l WHERE l.thread_id = t.id AND l.seq = t.next_seq - 1) AS last_id
        FROM threads t WHERE t.project_id = ${projectId} AND t.name_key IS NOT NULL ${where}
      ) AS topics WHERE last_id < ${below} ORDER BY last_id DESC LIMIT ${limit}`)
  if (!can(db).bulkFiling) return db.all<LastRow>(box(empty))
  // A thread that went on since is in the second half alone, with its newest message.
  // The plus keeps SQLite from going through all messages in the order of their threads.
  const fresh = await db.all<LastRow>(sql`
    SELECT m.thread_id, MAX(m.id) AS last_id FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id > ${filed} AND t.status <> 'deleted' ${inProject('t')} ${where} GROUP BY +m.thread_id`)
  const moved = new Set(fresh.map(({ thread_id }) => thread_id))
  const old = await db.all<LastRow>(
    box(sql`AND NOT EXISTS (
    SELECT 1 FROM messages n WHERE n.thread_id = b.thread_id AND n.seq = t.next_seq - 1 AND n.id <> b.last_id)`),
  )
  return [...fresh.filter(({ last_id }) => last_id < below), ...old.filter(({ thread_id }) => !moved.has(thread_id))]
    .sort((a, b) => b.last_id - a.last_id)
    .slice(0, limit)
}

export interface LastQuery {
  readonly projectId?: number | undefined
  readonly below?: number | undefined
  readonly filter?: ThreadFilter
  readonly limit: number
}

/** Files the messages above `from` up to `upTo`: SQLite only. */
export async function fileInProjects(tx: Tx, from: number, upTo: number): Promise<void> {
  const range = sql`m.id > ${from} AND m.id <= ${upTo}`
  await tx.change(sql`
    INSERT INTO project_box (project_id, message_id, sender_id, importance, home)
    SELECT t.project_id, m.id, m.sender_id, m.importance, 1 FROM messages m JOIN threads t ON t.id = m.thread_id WHERE ${range}
    UNION ALL
    SELECT g.project_id, m.id, m.sender_id, m.importance, 0
    FROM messages m JOIN message_guests g ON g.message_id = m.id JOIN threads t ON t.id = m.thread_id
    WHERE ${range} AND g.project_id <> t.project_id
    ORDER BY 1, 2 ON CONFLICT DO NOTHING`)
  await tx.change(sql`
    INSERT INTO thread_box (thread_id, project_id, last_id)
    SELECT t.id, t.project_id, MAX(m.id) FROM messages m JOIN threads t ON t.id = m.thread_id WHERE ${range} GROUP BY t.id
    ON CONFLICT (thread_id) DO UPDATE SET last_id = excluded.last_id`)
}
