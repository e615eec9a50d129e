/** Messages as the pages show them: with their thread, their recipients and what each of them did with it. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { type DeliveryKind, type Ending, readTime } from '../messages/deliveries.ts'
import { listedIn, ofProject, type Sight, sharedName, shownSubject, toldOf } from '../visibility.ts'

export interface PageMessageRow {
  id: number
  uid: string
  thread_id: number
  /** The project of the thread. */
  project_id: number
  thread_key: string | null
  topic: string | null
  kind: string
  sender_id: number
  sender: string
  sender_project: number
  sender_keyed: number
  subject: string
  /** The beginning of the body. */
  body: string
  body_length: number
  importance: 'low' | 'normal' | 'high' | 'urgent'
  ack_required: number
  created_at: number
  attachments: string | null
  reply_to: number | null
  /** The name of the person who wrote it as HumanOverseer. */
  author: string | null
}

/** The messages in sight, in no order. `length` limits the characters of each body. */
export function listPageMessageRows(
  db: Reader,
  ids: readonly number[],
  { sight, length }: Looking,
): Promise<PageMessageRow[]> {
  return db.all<PageMessageRow>(sql`
    SELECT m.id, m.uid, m.thread_id, t.project_id, ${sharedName} AS thread_key, t.name AS topic, m.kind, m.sender_id, a.name AS sender,
      a.project_id AS sender_project, a.keyed AS sender_keyed, ${shownSubject} AS subject,
      substr(m.body, 1, ${length}) AS body, length(m.body) AS body_length, m.importance, m.ack_required, m.created_at,
      m.attachments, m.reply_to,
      CASE WHEN a.name_key = 'humanoverseer' THEN (SELECT w.name FROM message_people w WHERE w.message_id = m.id) END AS author
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.id IN ${listed(db, ids)} AND t.status <> 'deleted' AND ${listedIn(sight)}`)
}

interface Looking {
  readonly sight: Sight
  readonly length: number
}

export interface PageRecipientRow {
  message_id: number
  id: number
  name: string
  project_id: number
  keyed: number
  kind: DeliveryKind
  sent_at: number
  ack_wanted: number
  read_at: number | null
  acked_at: number | null
  ended: Ending | null
}

/** In the order in which they were named. */
export function listPageRecipientRows(db: Reader, ids: readonly number[], sight: Sight): Promise<PageRecipientRow[]> {
  return db.all<PageRecipientRow>(sql`
    SELECT d.message_id, a.id, a.name, a.project_id, a.keyed, d.kind, d.sent_at, d.ack_wanted, ${readTime} AS read_at,
      d.acked_at, d.ended
    FROM deliveries d JOIN agents a ON a.id = d.recipient_id
    WHERE d.message_id IN ${listed(db, ids)} AND ${toldOf(sight)} ORDER BY d.id`)
}

/** A message is looked for in the project of the URL. */
export async function isInProject(db: Reader, id: number, projectId: number): Promise<boolean> {
  const rows = await db.all(sql`
    SELECT 1 FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id = ${id} AND ${ofProject(projectId)}`)
  return rows.length > 0
}

/** A list of conditions, each of them after AND. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.reduce((text, condition) => sql`${text} AND ${condition}`, empty)
