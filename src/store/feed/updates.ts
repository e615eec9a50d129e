/** Changes of threads and agents in the feed: for followers, live or after they were away. */
import sql, { type Sql } from 'sql-template-tag'
import { can, listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import type { DeliveryKind } from '../messages/deliveries.ts'
import { threadsCalled } from '../threads/mail-threads.ts'
import { type FeedRow, feedColumns } from './changes.ts'
import { type FeedPosition, feedOrder } from './positions.ts'

const kinds = sql`('message.sent', 'message.said', 'agent.created', 'agent.keyed')`

interface Missed {
  after: FeedPosition
  upTo: FeedPosition
  /** Nothing older than this time. */
  since: number
  /** The threads that are followed. */
  threadIds: readonly number[]
  /** The agent whose mail is followed. */
  agentId: number | undefined
  /** The project whose agents are followed. */
  projectId: number | undefined
  limit: number
}

/** The newest of the changes that a follower missed, in order: one look through the feed, which returns only its own. */
export async function listMissed(db: Reader, missed: Missed): Promise<FeedRow[]> {
  const { after, upTo, since, threadIds, agentId = 0, projectId = 0, limit } = missed
  const order = feedOrder(db)
  const rows = await db.all<FeedRow>(sql`
    SELECT ${feedColumns(db)} FROM changes WHERE ${order.after(after)} AND ${order.upTo(upTo)} AND at >= ${since}
      AND kind IN ${kinds} AND (thread_id IN ${listed(db, threadIds)}
        OR (kind = 'agent.created' AND project_id = ${projectId})
        OR (kind = 'message.sent' AND EXISTS (
          SELECT 1 FROM deliveries d WHERE d.message_id = changes.message_id AND d.recipient_id = ${agentId}))
        OR (kind = 'message.said' AND EXISTS (
          SELECT 1 FROM cursors c WHERE c.thread_id = changes.thread_id AND c.agent_id = ${agentId})))
    ORDER BY ${reversed(db)} LIMIT ${limit}`)
  return rows.reverse()
}

const reversed = (db: Reader): Sql => (can(db).concurrentWriters ? sql`tx DESC, id DESC` : sql`id DESC`)

interface NamesRow {
  project_id: number
  uid: string
  key: string | null
  topic: string | null
  first_id: number | null
}

/** Every name that clients may follow a thread by. */
export async function findNames(db: Reader, threadId: number): Promise<NamesRow | undefined> {
  const [row] = await db.all<NamesRow>(sql`
    SELECT t.project_id, t.uid, t.key, t.name AS topic,
      (SELECT f.id FROM messages f WHERE f.thread_id = t.id AND f.seq = 1) AS first_id
    FROM threads t WHERE t.id = ${threadId}`)
  return row
}

interface PartiesRow {
  seq: number
  sender_id: number
}

export async function findSpoken(db: Reader, messageId: number): Promise<PartiesRow | undefined> {
  const [row] = await db.all<PartiesRow>(sql`SELECT seq, sender_id FROM messages WHERE id = ${messageId}`)
  return row
}

export const listRecipientIds = (db: Reader, messageId: number): Promise<{ id: number; kind: DeliveryKind }[]> =>
  db.all(sql`SELECT recipient_id AS id, kind FROM deliveries WHERE message_id = ${messageId}`)

export async function listMemberIds(db: Reader, threadId: number): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`SELECT agent_id AS id FROM cursors WHERE thread_id = ${threadId}`)
  return rows.map(({ id }) => id)
}

/** All who hold a grant on a thread now. */
export function listGrantsOn(
  db: Reader,
  threadId: number,
  now: number,
): Promise<{ agent_id: number; granter_id: number | null }[]> {
  return db.all(sql`SELECT agent_id, granter_id FROM grants WHERE thread_id = ${threadId} AND expires_at > ${now}`)
}

/** The ids and ends of all threads of a name, seen or not: whether one is seen is asked of each message. */
export const listThreadEnds = (db: Reader, key: string): Promise<{ id: number; project_id: number; last: number }[]> =>
  db.all(sql`
    SELECT id, project_id, next_seq - 1 AS last FROM threads WHERE id IN (${threadsCalled(key)}) AND status <> 'deleted'`)

/** The highest id of an agent's mail: what comes later has a higher one, for a send locks its recipients first. */
export async function findNewestMail(db: Reader, agentId: number): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(
    sql`SELECT MAX(message_id) AS id FROM deliveries WHERE recipient_id = ${agentId}`,
  )
  return row?.id ?? 0
}
