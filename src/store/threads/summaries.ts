/** The threads and messages that summaries read, as far as a project may see them. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { countSeen, type ProjectSight, seenInside, shownSubject } from '../visibility.ts'
import { threadsSeen } from './mail-threads.ts'

export interface ThreadStateRow {
  id: number
  project_id: number
  /** How many messages the project may see of it. */
  total: number
  last_id: number
}

/** Threads by their key, their uid, or the id of their first message, as far as the project sees anything of them. */
export async function listThreadStates(db: Reader, sight: ProjectSight, key: string): Promise<ThreadStateRow[]> {
  const rows = await db.all<ThreadStateRow>(sql`
    SELECT t.id, t.project_id, (SELECT l.id FROM messages l WHERE l.thread_id = t.id ORDER BY l.seq DESC LIMIT 1) AS last_id,
      ${countSeen(sight)} AS total
    ${threadsSeen(sight.projectId, key)}`)
  return rows.filter(({ total }) => total > 0)
}

export interface ToldRow {
  id: number
  sender: string
  sender_project: number
  subject: string
  /** The beginning. */
  body: string
  reply_to: number | null
  created_at: number
}

interface ToldQuery {
  threadId: number
  sight: ProjectSight
  /** Whether the thread is another project's, which shows some of it to the one that looks. */
  guest: boolean
  /** Only messages before the one with this id. */
  before?: number | undefined
  /** From the beginning instead of the end. */
  oldestFirst?: boolean
  length: number
  limit: number
}

type Inside = Pick<ToldQuery, 'threadId' | 'sight' | 'guest'>

const fromThread = ({ guest }: Inside): Sql => sql`
  ${guest ? sql`FROM message_guests g JOIN messages m ON m.id = g.message_id` : sql`FROM messages m`}
  JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id`

const ofThread = ({ threadId, sight, guest }: Inside): Sql => sql`
  ${guest ? sql`g.project_id = ${sight.projectId} AND g.thread_id = ${threadId}` : sql`m.thread_id = ${threadId}`} ${seenInside(sight)}`

/** Newest first, unless told otherwise. */
export function listTold(db: Reader, query: ToldQuery): Promise<ToldRow[]> {
  const { guest, before, oldestFirst = false, length, limit } = query
  const direction = oldestFirst ? empty : sql`DESC`
  const earlier = guest
    ? sql`AND g.message_id < ${before}`
    : sql`AND m.seq < (SELECT b.seq FROM messages b WHERE b.id = ${before})`
  return db.all<ToldRow>(sql`
    SELECT m.id, a.name AS sender, a.project_id AS sender_project, ${shownSubject} AS subject,
      substr(m.body, 1, ${length}) AS body, m.reply_to, m.created_at
    ${fromThread(query)} WHERE ${ofThread(query)} ${before === undefined ? empty : earlier}
    ORDER BY ${guest ? sql`g.message_id` : sql`m.seq`} ${direction} LIMIT ${limit}`)
}

interface WriterRow {
  name: string
  project_id: number
  messages: number
}

/** The writers of a thread, each with the number of messages in sight. */
export async function listWriters(db: Reader, thread: Inside): Promise<WriterRow[]> {
  const rows = await db.all<WriterRow>(sql`
    SELECT a.name, a.project_id, COUNT(*) AS messages ${fromThread(thread)} WHERE ${ofThread(thread)}
    GROUP BY a.id, a.name, a.project_id`)
  return rows.map((row) => ({ ...row, messages: Number(row.messages) }))
}

interface OpenRecipientRow {
  message_id: number
  name: string
  project_id: number
}

/** The open recipients of messages. */
export function listOpenRecipients(db: Reader, ids: readonly number[]): Promise<OpenRecipientRow[]> {
  return db.all<OpenRecipientRow>(sql`
    SELECT d.message_id, a.name, a.project_id FROM deliveries d JOIN agents a ON a.id = d.recipient_id
    WHERE d.message_id IN ${listed(db, ids)} AND d.kind <> 'bcc' ORDER BY d.id`)
}
