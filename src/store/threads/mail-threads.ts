/** Threads as mail finds them: by their key, or by their first message. */
import sql, { join, type Sql } from 'sql-template-tag'
import { forUpdate } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { seenThread, threadName } from '../visibility.ts'

const firstMessage = (key: string): number => (/^[1-9]\d{0,14}$/.test(key) ? Number(key) : 0)

/** The ids of the threads that go by a name: their key, their uid, or the id of their first message. */
export const threadsCalled = (key: string): Sql => sql`
  SELECT id FROM threads WHERE key = ${key}
  UNION SELECT id FROM threads WHERE uid = ${key}
  UNION SELECT thread_id FROM messages WHERE id = ${firstMessage(key)} AND seq = 1`

/** More threads of one name than this are not read. */
const mostThreads = 50

/**
 * Threads `t` that go by a name, if anything of them is in sight: those of the project first, so that no number of others
 * keeps them from being read.
 */
export const threadsSeen = (projectId: number, key: string): Sql => sql`
  FROM threads t WHERE t.id IN (${threadsCalled(key)}) AND ${seenThread(projectId)}
  ORDER BY CASE WHEN t.project_id = ${projectId} THEN 0 ELSE 1 END, t.id LIMIT ${mostThreads}`

export function listThreadsCalled(
  db: Reader,
  projectId: number,
  key: string,
): Promise<{ id: number; project_id: number }[]> {
  return db.all(sql`SELECT t.id, t.project_id ${threadsSeen(projectId, key)}`)
}

export interface MailThreadRow {
  id: number
  uid: string
  project_id: number
  /** Its name once one more message is in it. */
  called: string
}

export const threadColumns = sql`t.id, t.uid, t.project_id, ${threadName} AS called`

/**
 * The thread of the sender's project that a key means: the one with that key, else the one that this message began, if
 * the sender has part in it; a number may as well be that of a ticket. It stays locked until the message is in it:
 * every send locks threads before agents.
 */
export async function findMailThread(
  db: Reader,
  { projectId, senderId, key }: { projectId: number; senderId: number; key: string },
): Promise<MailThreadRow | undefined> {
  const [named] = await db.all<MailThreadRow>(sql`
    SELECT ${threadColumns} FROM threads t WHERE t.key = ${key} AND t.project_id = ${projectId} ${forUpdate(db, 't')}`)
  const first = firstMessage(key)
  if (named !== undefined || first === 0) return named
  const [begun] = await db.all<MailThreadRow>(sql`
    SELECT ${threadColumns} FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id = ${first} AND m.seq = 1 AND t.project_id = ${projectId} AND t.key IS NULL AND t.name IS NULL
      AND EXISTS (SELECT 1 FROM messages x WHERE x.thread_id = t.id AND (x.sender_id = ${senderId} OR EXISTS (
        SELECT 1 FROM deliveries d WHERE d.message_id = x.id AND d.recipient_id = ${senderId})))
    ${forUpdate(db, 't')}`)
  return begun
}

/** The threads of this key in these projects. */
export async function listThreadsOf(
  db: Reader,
  { key, projectIds }: { key: string; projectIds: readonly number[] },
): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT id FROM threads WHERE key = ${key} AND project_id IN (${join([...projectIds])}) ORDER BY id`)
  return rows.map(({ id }) => id)
}

/** Locked in the same way, by its own id. */
export async function lockThread(db: Reader, id: number): Promise<MailThreadRow | undefined> {
  const [row] = await db.all<MailThreadRow>(sql`
    SELECT ${threadColumns} FROM threads t WHERE t.id = ${id} AND t.status <> 'deleted' ${forUpdate(db, 't')}`)
  return row
}

/** Locked in the same way. */
export async function findThreadOf(db: Reader, messageId: number): Promise<MailThreadRow | undefined> {
  const [row] = await db.all<MailThreadRow>(sql`
    SELECT ${threadColumns} FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id = ${messageId} ${forUpdate(db, 't')}`)
  return row
}
