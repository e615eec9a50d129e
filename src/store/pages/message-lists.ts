/** The ids of messages for the lists of the pages: newest first from a place, each list by an index of its own. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import {
  type Bounds,
  fromInbox,
  fromOutbox,
  fromProject,
  fromSenders,
  fromUnread,
  messagesOf,
  unreadParts,
} from '../mail/boxes.ts'
import { type Sight, toldOf } from '../visibility.ts'
import { allOf } from './page-messages.ts'

export interface MailFilter extends Bounds {
  readonly projectId?: number | undefined
  readonly senderIds?: readonly number[] | undefined
  readonly importance?: string | undefined
  readonly unread?: boolean | undefined
  readonly attached?: boolean | undefined
  readonly limit: number
}

/** Below so many unread deliveries those of a project are gathered agent by agent; above, its mail is walked through. */
export const mostGathered = 1000

/** With `above` alone the next newer ones, oldest first; else newest first. */
export async function listMailIds(db: Reader, sight: Sight, filter: MailFilter): Promise<number[]> {
  const { above, below, limit } = filter
  const forward = above !== undefined && below === undefined
  const end = sql`ORDER BY id ${forward ? empty : sql`DESC`} LIMIT ${limit}`
  const rows = await db.all<{ id: number }>(sql`${await source(db, sight, { ...filter, end })} ${end}`)
  return rows.map(({ id }) => id)
}

/** Each of these is in the order of an index, whatever else is asked of the messages. */
async function source(db: Reader, sight: Sight, filter: MailFilter & { end: Sql }): Promise<Sql> {
  const { projectId, senderIds, importance, unread = false, attached = false } = filter
  const conditions = {
    project: projectId === undefined ? undefined : inProject(projectId),
    importance: importance === undefined ? undefined : sql`m.importance = ${importance}`,
    unread: unread ? isUnread(sight) : undefined,
    attached: attached ? sql`m.attachments IS NOT NULL` : undefined,
  }
  const all = (...left: (keyof typeof conditions)[]): Sql => {
    const rest = Object.entries(conditions).filter(([name]) => !left.some((one) => one === name))
    return allOf(rest.flatMap(([, one]) => (one === undefined ? [] : [one])))
  }
  const place = between(sql`m.id`, filter)
  if (typeof sight.of === 'number') return ofAgent(db, sight.of, filter, all())
  if (senderIds?.length === 0) return sql`SELECT m.id FROM messages m WHERE 1 = 0`
  if (senderIds !== undefined) return fromSenders(db, sql`(${join([...senderIds])})`, filter, all())
  if (attached) return sql`SELECT m.id FROM messages m WHERE m.attachments IS NOT NULL ${place} ${all('attached')}`
  if (unread && projectId === undefined)
    return messagesOf(
      unreadParts(db, { anywhere: true }),
      (part) => sql`
        FROM ${part.from} JOIN messages m ON m.id = d.message_id
        WHERE ${part.where} ${between(sql`d.message_id`, filter)} AND ${toldOf(sight)} ${all('unread')}`,
    )
  if (unread && projectId !== undefined && (await countUnreadIn(db, projectId)) <= mostGathered)
    return messagesOf(
      unreadParts(db),
      (part) => sql`
        FROM agents r JOIN ${part.from} ON d.recipient_id = r.id AND ${part.where} JOIN messages m ON m.id = d.message_id
        WHERE r.project_id = ${projectId} AND r.unread > 0 ${between(sql`d.message_id`, filter)} AND ${toldOf(sight)}
          ${all('unread', 'project')}`,
    )
  if (importance !== undefined && importance !== 'normal' && projectId === undefined)
    return sql`
      SELECT m.id FROM messages m
      WHERE m.importance = ${importance} AND m.importance <> 'normal' ${place} ${all('importance')}`
  if (projectId !== undefined) return fromProject(db, projectId, filter, all('project'))
  return sql`SELECT m.id FROM messages m WHERE TRUE ${place} ${all()}`
}

/** A value, not an EXISTS: SQLite would make a join of that, and begin with all threads of the project. */
const inProject = (id: number): Sql => sql`((SELECT t.project_id FROM threads t WHERE t.id = m.thread_id) = ${id}
  OR EXISTS (SELECT 1 FROM message_guests g WHERE g.project_id = ${id} AND g.thread_id = m.thread_id AND g.message_id = m.id))`

/** Its inbox and its outbox. */
function ofAgent(db: Reader, agentId: number, { end, ...bounds }: Bounds & { end: Sql }, where: Sql): Sql {
  const fits = (id: Sql): Sql => sql`AND EXISTS (SELECT 1 FROM messages m WHERE m.id = ${id} ${where})`
  const inbox = fromInbox(db, sql`d.message_id AS id`, {
    recipientId: agentId,
    where: sql`${between(sql`d.message_id`, bounds)} ${fits(sql`d.message_id`)}`,
  })
  const sent = sql`SELECT id FROM (${fromOutbox(db, { senderId: agentId, ...bounds })}) AS box WHERE TRUE ${fits(sql`box.id`)}`
  return sql`SELECT id FROM (${inbox} ${end}) AS got UNION SELECT id FROM (${sent} ${end}) AS gave`
}

const isUnread = (sight: Sight): Sql =>
  sql`EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.read_at IS NULL AND ${toldOf(sight)})`

function between(column: Sql, { above, below }: Bounds): Sql {
  return sql`${above === undefined ? empty : sql`AND ${column} > ${above}`}
    ${below === undefined ? empty : sql`AND ${column} < ${below}`}`
}

export async function countUnreadIn(db: Reader, projectId: number): Promise<number> {
  const [row] = await db.all<{ unread: number | null }>(
    sql`SELECT SUM(unread) AS unread FROM agents WHERE project_id = ${projectId}`,
  )
  return Number(row?.unread ?? 0)
}

/** The agents of a name, in one project or in all. */
export async function listAgentIds(db: Reader, nameKey: string, projectId?: number): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT a.id FROM projects p JOIN agents a ON a.project_id = p.id AND a.name_key = ${nameKey}
    ${projectId === undefined ? empty : sql`WHERE p.id = ${projectId}`} ORDER BY a.id LIMIT 200`)
  return rows.map(({ id }) => id)
}

interface BoxQuery extends Bounds {
  readonly agentId: number
  readonly box: 'inbox' | 'outbox'
  readonly unread: boolean
  readonly sight: Sight
  /** How many of the newest are passed over. */
  readonly offset: number
  readonly limit: number
}

interface BoxRow {
  id: number
  kind: 'to' | 'cc' | 'bcc' | null
  read_at: number | null
  acked_at: number | null
}

/** The box of one agent, newest first. */
export function listBox(db: Reader, query: BoxQuery): Promise<BoxRow[]> {
  const { agentId, box, unread, sight, offset, limit, ...bounds } = query
  const page = sql`ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`
  if (box === 'outbox')
    return db.all<BoxRow>(sql`
      SELECT id, NULL AS kind, NULL AS read_at, NULL AS acked_at FROM (${fromOutbox(db, { senderId: agentId, ...bounds })}) AS sent
      ${page}`)
  const columns = sql`d.message_id AS id, d.kind, d.read_at, d.acked_at`
  const where = sql`${between(sql`d.message_id`, bounds)} AND d.ended IS NULL AND ${toldOf(sight)}`
  const from = unread
    ? fromUnread(db, columns, { recipientId: agentId, where })
    : fromInbox(db, columns, { recipientId: agentId, where })
  return db.all<BoxRow>(sql`SELECT id, kind, read_at, acked_at FROM (${from}) AS box ${page}`)
}
