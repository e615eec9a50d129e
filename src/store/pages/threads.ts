/** Threads as the pages show them: by their newest message, with everybody who takes part. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { threadsSeen } from '../threads/mail-threads.ts'
import { listedIn, readable, type Sight, toldOf } from '../visibility.ts'
import { allOf } from './page-messages.ts'

/** How many messages of each thread are listed. They are counted one by one only where some may be hidden. */
export async function listThreadCounts(
  db: Reader,
  ids: readonly number[],
  sight: Sight,
): Promise<ReadonlyMap<number, number>> {
  const one = sql`(SELECT COUNT(*) FROM messages m WHERE m.thread_id = t.id AND ${listedIn(sight)})`
  const count = typeof sight.of === 'number' ? one : sql`t.next_seq - 1`
  const rows = await db.all<{ id: number; count: number }>(
    sql`SELECT t.id, ${count} AS count FROM threads t WHERE t.id IN ${listed(db, ids)}`,
  )
  return new Map(rows.map(({ id, count }) => [id, Number(count)]))
}

export interface ThreadFilter {
  readonly status?: 'open' | 'closed' | undefined
  readonly kind?: 'mail' | 'topic' | undefined
  /** Part of its key, its name, or the subject of its first message, where this sight may read that. */
  readonly q?: { readonly text: string; readonly sight: Sight } | undefined
}

/** Conditions for threads `t`. */
export function threadWhere({ status, kind, q }: ThreadFilter): Sql {
  const like = `%${(q?.text ?? '').toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  return allOf([
    ...(status === undefined ? [] : [sql`t.status = ${status}`]),
    ...(kind === undefined ? [] : [kind === 'topic' ? sql`t.name IS NOT NULL` : sql`t.name IS NULL`]),
    ...(q === undefined || q.text === ''
      ? []
      : [
          sql`(LOWER(COALESCE(t.key, t.name, '')) LIKE ${like} ESCAPE '\\' OR EXISTS (
            SELECT 1 FROM messages m JOIN agents a ON a.id = m.sender_id
            WHERE m.thread_id = t.id AND m.seq = 1 AND LOWER(m.subject) LIKE ${like} ESCAPE '\\' AND ${readable(q.sight)}))`,
        ]),
  ])
}

export interface ThreadRow {
  id: number
  uid: string
  project_id: number
  key: string | null
  name: string | null
  status: 'open' | 'closed'
  close_reason: string | null
  count: number
  /** The message that began it. */
  first_id: number | null
  last_id: number | null
}

const columns = sql`t.id, t.uid, t.project_id, t.key, t.name, t.status, t.close_reason, t.next_seq - 1 AS count,
  (SELECT f.id FROM messages f WHERE f.thread_id = t.id AND f.seq = 1) AS first_id,
  (SELECT l.id FROM messages l WHERE l.thread_id = t.id AND l.seq = t.next_seq - 1) AS last_id`

export async function listThreadRows(db: Reader, ids: readonly number[]): Promise<ReadonlyMap<number, ThreadRow>> {
  const rows = await db.all<ThreadRow>(sql`SELECT ${columns} FROM threads t WHERE t.id IN ${listed(db, ids)}`)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Topics without a message: no list of messages tells of them. */
export function listSilentTopics(
  db: Reader,
  { projectId, filter, limit }: { projectId: number; filter: ThreadFilter; limit: number },
): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(sql`
    SELECT ${columns} FROM threads t
    WHERE t.project_id = ${projectId} AND t.name_key IS NOT NULL AND t.next_seq = 1 ${threadWhere(filter)}
    ORDER BY t.id DESC LIMIT ${limit}`)
}

/** By its key, its uid, or the id of its first message: those of the project first. */
export function listThreadsNamed(db: Reader, projectId: number, name: string): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(sql`SELECT ${columns} ${threadsSeen(projectId, name)}`)
}

export interface PartRow {
  thread_id: number
  id: number
  name: string
  project_id: number
  active_at: number
}

/** Of the newest messages of each thread that are listed: who wrote them, and openly got them. */
export function listParticipants(
  db: Reader,
  ids: readonly number[],
  { newest, sight }: { newest: number; sight: Sight },
): Promise<PartRow[]> {
  const recent = (column: Sql, joined: Sql, which: Sql): Sql => sql`
    SELECT t.id AS thread_id, ${column} AS agent_id, m.id AS message_id FROM threads t
    JOIN messages m ON m.thread_id = t.id AND m.seq >= t.next_seq - ${newest} ${joined}
    WHERE t.id IN ${listed(db, ids)} AND ${listedIn(sight)} ${which}`
  return db.all<PartRow>(sql`
    SELECT p.thread_id, a.id, a.name, a.project_id, a.active_at FROM (
      SELECT thread_id, agent_id, MAX(message_id) AS last_id FROM (
        ${recent(sql`m.sender_id`, empty, empty)}
        UNION ALL ${recent(sql`d.recipient_id`, sql`JOIN deliveries d ON d.message_id = m.id`, sql`AND ${toldOf(sight)}`)}
        UNION ALL SELECT c.thread_id, c.agent_id, 0 AS message_id FROM cursors c WHERE c.thread_id IN ${listed(db, ids)}
      ) AS parts GROUP BY thread_id, agent_id
    ) AS p JOIN agents a ON a.id = p.agent_id ORDER BY p.last_id DESC, a.id`)
}

/** How a part of a thread is read: from its end, from below an id, or from above one, oldest first. */
export interface ThreadPart {
  readonly threadId: number
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly limit: number
}

/** The message that stands so many places after another one of its thread; undefined past the end. */
export async function findAfter(db: Reader, threadId: number, id: number, places: number): Promise<number | undefined> {
  const [row] = await db.all<{ id: number }>(sql`
    SELECT id FROM messages WHERE thread_id = ${threadId}
      AND seq = (SELECT seq FROM messages WHERE id = ${id} AND thread_id = ${threadId}) + ${places}`)
  return row?.id
}

/** The first subjects of threads, as far as they may be read. */
export async function listFirstSubjects(
  db: Reader,
  ids: readonly number[],
  sight: Sight,
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.all<{ id: number; subject: string }>(sql`
    SELECT t.id, m.subject FROM threads t JOIN messages m ON m.thread_id = t.id AND m.seq = 1 JOIN agents a ON a.id = m.sender_id
    WHERE t.id IN ${listed(db, ids)} AND ${readable(sight)}`)
  return new Map(rows.map(({ id, subject }) => [id, subject]))
}

/** The newest messages of a thread below an id, newest first; with `after` the next ones, oldest first. */
export async function listThreadIds(db: Reader, { threadId, before, after, limit }: ThreadPart): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT id FROM messages WHERE thread_id = ${threadId} ${
      before === undefined
        ? empty
        : sql`AND seq < COALESCE((SELECT seq FROM messages WHERE id = ${before} AND thread_id = ${threadId}),
            (SELECT seq + 1 FROM messages WHERE thread_id = ${threadId} AND id < ${before} ORDER BY seq DESC LIMIT 1), 0)`
    } ${after === undefined ? empty : sql`AND seq > COALESCE((SELECT seq FROM messages WHERE id = ${after} AND thread_id = ${threadId}), 0)`}
    ORDER BY seq ${after === undefined ? sql`DESC` : empty} LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}

/** The messages of another project's thread that this project sees. */
export async function listGuestIds(
  db: Reader,
  { projectId, threadId, before, after, limit }: ThreadPart & { readonly projectId: number },
): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT message_id AS id FROM message_guests WHERE project_id = ${projectId} AND thread_id = ${threadId}
    ${before === undefined ? empty : sql`AND message_id < ${before}`} ${after === undefined ? empty : sql`AND message_id > ${after}`}
    ORDER BY message_id ${after === undefined ? sql`DESC` : empty} LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}

/** The messages of a thread around one of them, in their order: as many before it as after it. */
export async function listAround(db: Reader, id: number, each: number): Promise<number[]> {
  const place = sql`(SELECT thread_id, seq FROM messages WHERE id = ${id}) AS here`
  const rows = await db.all<{ id: number; seq: number }>(sql`
    SELECT id, seq FROM (SELECT m.id, m.seq FROM messages m, ${place} WHERE m.thread_id = here.thread_id AND m.seq < here.seq
      AND m.seq >= here.seq - ${each}) AS before
    UNION ALL SELECT id, seq FROM (SELECT m.id, m.seq FROM messages m, ${place}
      WHERE m.thread_id = here.thread_id AND m.seq > here.seq AND m.seq <= here.seq + ${each}) AS after`)
  return rows.sort((a, b) => a.seq - b.seq).map(({ id }) => id)
}

/** When each member of a topic synced last, by agent. */
export async function listSynced(db: Reader, threadId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await db.all<{ agent_id: number; synced_at: number }>(sql`
    SELECT agent_id, synced_at FROM cursors WHERE thread_id = ${threadId} AND synced_at IS NOT NULL LIMIT 1000`)
  return new Map(rows.map(({ agent_id, synced_at }) => [agent_id, synced_at]))
}
