/** Changes as events for the pages: which project, thread and agents each is about. */
import sql, { raw } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { type FeedPosition, feedOrder } from '../feed/positions.ts'
import { threadName } from '../visibility.ts'

export interface PageEventRow {
  id: number
  kind: string
  project_id: number | null
  agent_id: number | null
  thread_id: number | null
  message_id: number | null
  /** The channels of those it wakes, parted by spaces. */
  wakes: string
}

const columns = raw('id, kind, project_id, agent_id, thread_id, message_id, wakes')

/** In the order of their ids. On PostgreSQL a lower id may become visible later: whoever asks looks back a little. */
export function listEvents(db: Reader, after: number, limit: number): Promise<PageEventRow[]> {
  return db.all<PageEventRow>(sql`
    SELECT ${columns} FROM changes WHERE id > ${after} ORDER BY id LIMIT ${limit}`)
}

/** All that became visible after a place was found, and on PostgreSQL perhaps some that was visible before. */
export function listEventsSince(db: Reader, place: FeedPosition, limit: number): Promise<PageEventRow[]> {
  const order = feedOrder(db)
  return db.all<PageEventRow>(sql`
    SELECT ${columns} FROM changes WHERE ${order.after(place)} ORDER BY ${order.columns} LIMIT ${limit}`)
}

interface PageEventPlaceRow {
  message_id: number
  thread_id: number
  project_id: number
  /** Its name in a URL. */
  thread: string
  topic: number
}

/** The threads that messages are in. */
export function listEventPlaces(db: Reader, messageIds: readonly number[]): Promise<PageEventPlaceRow[]> {
  return db.all<PageEventPlaceRow>(sql`
    SELECT m.id AS message_id, t.id AS thread_id, t.project_id, CASE WHEN t.name IS NULL THEN 0 ELSE 1 END AS topic,
      ${threadName} AS thread
    FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id IN ${listed(db, messageIds)}`)
}

/** The other projects that see messages. */
export function listEventGuests(
  db: Reader,
  messageIds: readonly number[],
): Promise<{ message_id: number; project_id: number }[]> {
  return db.all(sql`SELECT message_id, project_id FROM message_guests WHERE message_id IN ${listed(db, messageIds)}`)
}

/** The agents that got messages as blind copies, but for their senders. */
export function listEventBlind(
  db: Reader,
  messageIds: readonly number[],
): Promise<{ message_id: number; agent_id: number }[]> {
  return db.all(sql`
    SELECT d.message_id, d.recipient_id AS agent_id FROM deliveries d JOIN messages m ON m.id = d.message_id
    WHERE d.message_id IN ${listed(db, messageIds)} AND d.kind = 'bcc' AND d.recipient_id <> m.sender_id`)
}

export function listTopicUids(db: Reader, threadIds: readonly number[]): Promise<{ id: number; uid: string }[]> {
  return db.all(sql`SELECT id, uid FROM threads WHERE id IN ${listed(db, threadIds)} AND name IS NOT NULL`)
}
