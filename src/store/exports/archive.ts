/** Rows as the archive wants them: everything about a message, a thread or a lease in few statements. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed, lowerCased } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { type FeedPosition, feedOrder } from '../feed/positions.ts'
import type { NamedLeaseRow } from '../leases.ts'
import { fromInbox, fromOutbox } from '../mail/boxes.ts'
import { type ProjectSight, seen } from '../visibility.ts'

export interface ArchivedMessageRow {
  id: number
  thread_id: number
  /** The uid of its topic, if it was said in one. */
  topic: string | null
  thread_key: string | null
  /** The id of the message that began its thread. */
  first_id: number
  seq: number
  sender: string
  sender_project: number
  subject: string | null
  importance: string
  ack_required: number
  created_at: number
  body: string
  kind: string
  reply_to: number | null
  metadata: string | null
  /** JSON. */
  attachments: string | null
}

const messages = sql`
  SELECT m.id, m.thread_id, CASE WHEN t.name IS NULL THEN NULL ELSE t.uid END AS topic, t.key AS thread_key,
    (SELECT f.id FROM messages f WHERE f.thread_id = m.thread_id AND f.seq = 1) AS first_id, m.seq, a.name AS sender,
    a.project_id AS sender_project, m.subject, m.importance, m.ack_required, m.created_at, m.body, m.kind, m.reply_to, m.metadata,
    m.attachments
  FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id`

/** The messages that still exist: those of a topic that is being deleted are left out. */
export function listArchivedMessages(db: Reader, ids: readonly number[]): Promise<ArchivedMessageRow[]> {
  return db.all<ArchivedMessageRow>(
    sql`${messages} WHERE m.id IN ${listed(db, ids)} AND t.status <> 'deleted' ORDER BY m.id`,
  )
}

export function listMessagePlaces(db: Reader, ids: readonly number[]): Promise<{ thread_id: number; seq: number }[]> {
  return db.all(sql`SELECT thread_id, seq FROM messages WHERE id IN ${listed(db, ids)}`)
}

/** The body, and the images in the message itself. */
const size = sql`
  octet_length(body) + CASE WHEN attachments IS NULL THEN 0 ELSE COALESCE(
    (SELECT SUM(octet_length(i.data_uri)) FROM inline_images i WHERE i.message_id = messages.id), 0) END AS bytes`

export function listSizes(db: Reader, ids: readonly number[]): Promise<{ id: number; bytes: number }[]> {
  return db.all(sql`SELECT id, ${size} FROM messages WHERE id IN ${listed(db, ids)}`)
}

/** The next messages of all projects, with their sizes. */
export function listMessageIds(db: Reader, after: number, limit: number): Promise<{ id: number; bytes: number }[]> {
  return db.all(sql`SELECT id, ${size} FROM messages WHERE id > ${after} ORDER BY id LIMIT ${limit}`)
}

export async function countMessages(db: Reader): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`SELECT COUNT(*) AS count FROM messages`)
  return Number(row?.count ?? 0)
}

/** Messages of this range that the feed has after a feed position: the follower will get them from the feed. */
export async function listMessagesAfterPlace(
  db: Reader,
  place: FeedPosition,
  { from, to }: { from: number; to: number },
): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT DISTINCT message_id AS id FROM changes
    WHERE ${feedOrder(db).after(place)} AND message_id >= ${from} AND message_id <= ${to}
      AND kind IN ('message.sent', 'message.said')`)
  return rows.map(({ id }) => id)
}

export interface ArchivedThreadRow {
  id: number
  uid: string
  project_id: number
  key: string | null
  name: string | null
  next_seq: number
  created_at: number
  closed_at: number | null
  close_reason: string | null
  first_id: number | null
}

const threads = sql`
  SELECT t.id, t.uid, t.project_id, t.key, t.name, t.next_seq, t.created_at, t.closed_at, t.close_reason,
    (SELECT f.id FROM messages f WHERE f.thread_id = t.id AND f.seq = 1) AS first_id
  FROM threads t WHERE t.status <> 'deleted'`

export function listArchivedThreads(db: Reader, ids: readonly number[]): Promise<ArchivedThreadRow[]> {
  return db.all<ArchivedThreadRow>(sql`${threads} AND t.id IN ${listed(db, ids)} ORDER BY t.id`)
}

/** Threads of all projects that have a digest. */
export function listThreadsAfter(db: Reader, after: number, limit: number): Promise<ArchivedThreadRow[]> {
  return db.all<ArchivedThreadRow>(sql`
    ${threads} AND t.id > ${after} AND (t.name IS NOT NULL OR t.next_seq > CASE WHEN t.key IS NULL THEN 2 ELSE 1 END)
    ORDER BY t.id LIMIT ${limit}`)
}

/** The threads of one key that a project sees something of, in their order. */
export function listThreadsOfKey(
  db: Reader,
  { projectId, key }: { projectId: number; key: string },
): Promise<ArchivedThreadRow[]> {
  return db.all<ArchivedThreadRow>(sql`
    ${threads} AND t.key = ${key} AND t.name IS NULL AND (t.project_id = ${projectId} OR EXISTS (
      SELECT 1 FROM message_guests g WHERE g.project_id = ${projectId} AND g.thread_id = t.id)) ORDER BY t.id`)
}

/** The projects besides their thread's own that see these messages. */
export function listGuestPlaces(
  db: Reader,
  ids: readonly number[],
): Promise<{ project_id: number; thread_id: number; seq: number }[]> {
  return db.all(sql`
    SELECT g.project_id, g.thread_id, m.seq FROM message_guests g JOIN messages m ON m.id = g.message_id
    WHERE g.message_id IN ${listed(db, ids)}`)
}

/** The same for whole threads: who sees how many messages of them. */
export function listThreadGuests(
  db: Reader,
  threadIds: readonly number[],
): Promise<{ project_id: number; thread_id: number }[]> {
  return db.all(sql`
    SELECT DISTINCT g.project_id, m.thread_id FROM messages m JOIN message_guests g ON g.message_id = m.id
    WHERE m.thread_id IN ${listed(db, threadIds)} ORDER BY m.thread_id, g.project_id`)
}

/** The places of the messages of a thread that a guest sees. */
export async function listGuestSeqs(
  db: Reader,
  { projectId, threadId }: { projectId: number; threadId: number },
): Promise<number[]> {
  const rows = await db.all<{ seq: number }>(sql`
    SELECT m.seq FROM message_guests g JOIN messages m ON m.id = g.message_id
    WHERE g.project_id = ${projectId} AND g.thread_id = ${threadId} ORDER BY m.seq`)
  return rows.map(({ seq }) => seq)
}

/** Threads whose keys are one of these but for the case of letters: the index on keys is gone through once for all. */
export function listKeysAlike(
  db: Reader,
  keys: readonly string[],
): Promise<{ id: number; project_id: number; key: string }[]> {
  return db.all(sql`
    SELECT id, project_id, key FROM threads WHERE key IS NOT NULL AND lower(key) IN (${lowerCased(db, keys)})`)
}

export interface DigestRow {
  id: number
  seq: number
  created_at: number
  sender: string
  sender_project: number
  subject: string | null
  /** The beginning. */
  body: string
  length: number
  /** JSON. */
  attachments: string | null
}

interface DigestQuery {
  threadId: number
  /** Of another project: the one that looks, and sees some of it. */
  guest: number | undefined
  from: number
  to: number
  excerpt: number
}

export function listDigestRows(db: Reader, { threadId, guest, from, to, excerpt }: DigestQuery): Promise<DigestRow[]> {
  const seen = sql`AND EXISTS (
    SELECT 1 FROM message_guests g WHERE g.project_id = ${guest} AND g.thread_id = m.thread_id AND g.message_id = m.id)`
  return db.all<DigestRow>(sql`
    SELECT m.id, m.seq, m.created_at, a.name AS sender, a.project_id AS sender_project, m.subject,
      substr(m.body, 1, ${excerpt}) AS body, length(m.body) AS length, m.attachments
    FROM messages m JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id = ${threadId} AND m.seq BETWEEN ${from} AND ${to} ${guest === undefined ? empty : seen} ORDER BY m.seq`)
}

export interface ArchivedAgentRow {
  id: number
  project_id: number
  name: string
  program: string
  model: string
  task: string
  contact_policy: string
  attachments_policy: string
  created_at: number
}

const agents = sql`SELECT id, project_id, name, program, model, task, contact_policy, attachments_policy, created_at FROM agents`

export function listArchivedAgents(db: Reader, ids: readonly number[]): Promise<ArchivedAgentRow[]> {
  return db.all<ArchivedAgentRow>(sql`${agents} WHERE id IN ${listed(db, ids)} ORDER BY id`)
}

export function listAgentsAfter(db: Reader, after: number, limit: number): Promise<ArchivedAgentRow[]> {
  return db.all<ArchivedAgentRow>(sql`${agents} WHERE id > ${after} ORDER BY id LIMIT ${limit}`)
}

export type ArchivedLeaseRow = NamedLeaseRow & { project_id: number }

const leases = (which: Sql): Sql => sql`
  SELECT l.id, l.project_id, l.agent_id, a.name AS agent, l.pattern, l.exclusive, l.reason, l.created_at, l.expires_at,
    l.released_at
  FROM leases l JOIN agents a ON a.id = l.agent_id WHERE ${which}`

export function listArchivedLeases(db: Reader, ids: readonly number[]): Promise<ArchivedLeaseRow[]> {
  return db.all<ArchivedLeaseRow>(sql`${leases(sql`l.id IN ${listed(db, ids)}`)} ORDER BY l.id`)
}

export function listLeasesAfter(db: Reader, after: number, limit: number): Promise<ArchivedLeaseRow[]> {
  return db.all<ArchivedLeaseRow>(sql`${leases(sql`l.id > ${after}`)} ORDER BY l.id LIMIT ${limit}`)
}

/** The newest leases on one pattern, the newest first. */
export function listPatternLeases(
  db: Reader,
  { projectId, pattern, limit }: { projectId: number; pattern: string; limit: number },
): Promise<ArchivedLeaseRow[]> {
  return db.all<ArchivedLeaseRow>(sql`
    ${leases(sql`l.project_id = ${projectId} AND l.pattern = ${pattern}`)} ORDER BY l.id DESC LIMIT ${limit}`)
}

export async function findHome(db: Reader, id: number): Promise<{ slug: string; key: string }> {
  const [row] = await db.all<{ slug: string; key: string }>(sql`
    SELECT slug, human_key AS key FROM projects WHERE id = ${id}`)
  return row ?? { slug: `project-${id}`, key: '' }
}

/** How far back mail is looked at that may not be in sight. */
const lookedAt = 200

/** The newest mail that an agent sent or openly received, as far as it is in sight. */
export async function listSeenMail(
  db: Reader,
  { agentId, sight, limit }: { agentId: number; sight: ProjectSight; limit: number },
): Promise<number[]> {
  const visible = (part: Sql): Sql => sql`
    SELECT m.id FROM (${part} ORDER BY id DESC LIMIT ${lookedAt}) AS part JOIN messages m ON m.id = part.id
      JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE ${seen(sight)} ORDER BY m.id DESC LIMIT ${limit}`
  const open = { recipientId: agentId, where: sql`AND d.kind <> 'bcc'` }
  const rows = [
    ...(await db.all<{ id: number }>(visible(fromOutbox(db, { senderId: agentId })))),
    ...(await db.all<{ id: number }>(visible(fromInbox(db, sql`d.message_id AS id`, open)))),
  ]
  return rows.map(({ id }) => id)
}
