/** The board of agents: who is there, the oldest mail that each has not read, leases that hold now, and overdue acknowledgements. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import type { NamedLeaseRow } from '../leases.ts'
import { fromInbox, fromOutbox, messagesOf, selectParts, unreadParts } from '../mail/boxes.ts'
import { type Sight, toldOf } from '../visibility.ts'

export interface BoardAgentRow {
  id: number
  project_id: number
  name: string
  program: string
  model: string
  task: string
  active_at: number
  unread: number
  /** The delivery of the oldest mail that it has not read. */
  oldest_id: number | null
}

export interface BoardScope {
  readonly projectId: number | undefined
}

const within = (column: Sql, { projectId }: BoardScope): Sql =>
  projectId === undefined ? empty : sql`AND ${column} = ${projectId}`

/** Agents active last, agents with unread mail that are silent since then, and the given ones. People and blind copies are left out. */
export function listBoardAgents(
  db: Reader,
  scope: BoardScope,
  { silentSince, ids, limit }: { silentSince: number; ids: readonly number[]; limit: number },
): Promise<BoardAgentRow[]> {
  const some = (where: Sql): Sql => sql`
    SELECT id FROM (SELECT b.id FROM agents b WHERE b.name_key NOT IN ('humanoverseer', 'parley') ${within(sql`b.project_id`, scope)} ${where}
      ORDER BY b.active_at DESC, b.id DESC LIMIT ${limit}) AS few`
  const oldest = selectParts(
    unreadParts(db),
    ({ from, where }) => sql`
      SELECT * FROM (SELECT d.id FROM ${from} WHERE d.recipient_id = a.id AND ${where} AND d.kind <> 'bcc'
        ORDER BY d.id LIMIT 1) AS first`,
  )
  return db.all<BoardAgentRow>(sql`
    SELECT a.id, a.project_id, a.name, a.program, a.model, a.task, a.active_at,
      a.unread - (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = a.id AND d.kind = 'bcc' AND d.read_at IS NULL) AS unread,
      CASE WHEN a.unread = 0 THEN NULL ELSE (SELECT MIN(id) FROM (${oldest}) AS firsts) END AS oldest_id
    FROM agents a
    WHERE a.name_key NOT IN ('humanoverseer', 'parley') ${within(sql`a.project_id`, scope)} AND a.id IN (
      ${some(empty)} UNION ${some(sql`AND b.unread > 0 AND b.active_at < ${silentSince}`)}
      ${ids.length === 0 ? empty : sql`UNION SELECT id FROM agents WHERE id IN ${listed(db, ids)}`})`)
}

export interface OldestRow {
  id: number
  sent_at: number
  sender_id: number
  sender: string
  sender_project: number
}

/** Deliveries by their ids, with the sender of each. */
export async function listOldest(db: Reader, ids: readonly number[]): Promise<ReadonlyMap<number, OldestRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db.all<OldestRow>(sql`
    SELECT d.id, d.sent_at, m.sender_id, s.name AS sender, s.project_id AS sender_project
    FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN agents s ON s.id = m.sender_id
    WHERE d.id IN ${listed(db, ids)}`)
  return new Map(rows.map((row) => [row.id, row]))
}

export interface TakenRow {
  sender_id: number
  recipient_id: number
  sent_at: number
}

/** The newest mail of each of these senders, as far as these recipients took it and have written nothing to the sender since. */
export function listTaken(
  db: Reader,
  { senders, recipients, since }: { senders: readonly number[]; recipients: readonly number[]; since: number },
): Promise<TakenRow[]> {
  const newest = senders.map(
    (senderId) =>
      sql`SELECT * FROM (SELECT id FROM (${fromOutbox(db, { senderId, since })}) AS sent ORDER BY id DESC LIMIT 1) AS one`,
  )
  const answer = sql`AND d.message_id > m.id AND (SELECT r.sender_id FROM messages r WHERE r.id = d.message_id) = t.recipient_id`
  return db.all<TakenRow>(sql`
    SELECT m.sender_id, t.recipient_id, t.sent_at FROM messages m JOIN deliveries t ON t.message_id = m.id
    WHERE m.id IN (${join(newest, ' UNION ALL ')}) AND t.recipient_id IN ${listed(db, recipients)}
      AND t.kind <> 'bcc' AND t.read_at IS NOT NULL AND t.ended IS NULL
      AND NOT EXISTS (${fromInbox(db, sql`1`, { recipientId: sql`m.sender_id`, where: answer })})`)
}

export interface HeldRow extends NamedLeaseRow {
  project_id: number
  prefix: string
}

/** Leases that hold now, the newest first. */
export function listHolding(
  db: Reader,
  scope: BoardScope,
  { now, limit }: { now: number; limit: number },
): Promise<HeldRow[]> {
  return db.all<HeldRow>(sql`
    SELECT l.id, l.project_id, l.prefix, l.agent_id, a.name AS agent, l.pattern, l.exclusive, l.reason, l.created_at,
      l.expires_at, l.released_at
    FROM leases l JOIN agents a ON a.id = l.agent_id
    WHERE l.released_at IS NULL AND l.expires_at > ${now} ${within(sql`l.project_id`, scope)}
    ORDER BY l.id DESC LIMIT ${limit}`)
}

/** Unread mail to these agents, the newest first. */
export async function listAnswerIds(db: Reader, agentIds: readonly number[], limit: number): Promise<number[]> {
  if (agentIds.length === 0) return []
  const rows = await db.all<{ id: number }>(sql`
    ${messagesOf(
      unreadParts(db),
      ({ from, where }) => sql`FROM ${from} WHERE d.recipient_id IN ${listed(db, agentIds)} AND ${where}`,
    )} ORDER BY id DESC LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}

interface QuestionsQuery extends BoardScope {
  readonly sent: { readonly after: number; readonly before: number }
  readonly limit: number
}

/** Questions in open topics that nobody has answered, nor people said anything after, the newest first. */
export async function listOpenQuestions(db: Reader, { sent, limit, ...scope }: QuestionsQuery): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT q.id FROM messages q JOIN threads t ON t.id = q.thread_id
    WHERE q.kind = 'question' AND t.name IS NOT NULL AND t.status = 'open'
      AND q.created_at > ${sent.after} AND q.created_at <= ${sent.before} ${within(sql`t.project_id`, scope)}
      AND NOT EXISTS (SELECT 1 FROM messages r WHERE r.reply_to = q.id AND r.reply_to IS NOT NULL)
      AND NOT EXISTS (
        SELECT 1 FROM messages l JOIN agents o ON o.id = l.sender_id
        WHERE l.thread_id = q.thread_id AND l.seq > q.seq AND o.name_key = 'humanoverseer')
    ORDER BY q.id DESC LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}

export interface OwedRow {
  message_id: number
  recipient_id: number
  sender_id: number
  sender: string
  sender_project: number
  sent_at: number
}

/** Acknowledgements that are overdue, the oldest first. */
export function listOwed(
  db: Reader,
  scope: BoardScope,
  { sight, sentBefore, limit }: { sight: Sight; sentBefore: number; limit: number },
): Promise<OwedRow[]> {
  const home =
    scope.projectId === undefined
      ? empty
      : sql`AND (SELECT r.project_id FROM agents r WHERE r.id = d.recipient_id) = ${scope.projectId}`
  return db.all<OwedRow>(sql`
    SELECT d.message_id, d.recipient_id, m.sender_id, s.name AS sender, s.project_id AS sender_project, d.sent_at
    FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN agents s ON s.id = m.sender_id
    WHERE d.ack_wanted = 1 AND COALESCE(d.acked_at, 0) = 0 AND d.ended IS NULL AND d.sent_at <= ${sentBefore} AND ${toldOf(sight)} ${home}
      ${typeof sight.of === 'number' ? sql`AND d.recipient_id = ${sight.of}` : empty}
    ORDER BY d.message_id LIMIT ${limit}`)
}
