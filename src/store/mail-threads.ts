/** Threads as mail finds them: by their key, or by their first message. */
import sql, { type Sql } from 'sql-template-tag'
import { forUpdate } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

const firstMessage = (key: string): number => (/^[1-9]\d{0,14}$/.test(key) ? Number(key) : 0)

/** The ids of the threads that go by a name: their key, their uid, or the id of their first message. */
const threadsCalled = (key: string): Sql => sql`
  SELECT id FROM threads WHERE key = ${key}
  UNION SELECT id FROM threads WHERE uid = ${key}
  UNION SELECT thread_id FROM messages WHERE id = ${firstMessage(key)} AND seq = 1`

/** More threads of one name than this are not read. */
const mostThreads = 50

/**
 * Threads `t` that go by a name, as far as a project sees anything of them: its own first, so that no number of others
 * keeps it from being read.
 */
export const seenThreads = (projectId: number, key: string): Sql => sql`
  FROM threads t WHERE t.status <> 'deleted' AND t.id IN (${threadsCalled(key)}) AND (t.project_id = ${projectId}
    OR EXISTS (SELECT 1 FROM message_guests g WHERE g.project_id = ${projectId} AND g.thread_id = t.id))
  ORDER BY CASE WHEN t.project_id = ${projectId} THEN 0 ELSE 1 END, t.id LIMIT ${mostThreads}`

export function listThreadsCalled(
  db: Reader,
  projectId: number,
  key: string,
): Promise<{ id: number; project_id: number }[]> {
  return db.all(sql`SELECT t.id, t.project_id ${seenThreads(projectId, key)}`)
}

export interface MailThreadRow {
  id: number
  project_id: number
  key: string | null
  root_id: number
}

const columns = sql`t.id, t.project_id, t.key, (SELECT r.id FROM messages r WHERE r.thread_id = t.id AND r.seq = 1) AS root_id`

/**
 * The thread of the sender's project that it means by a key: the one called so, else the one that this message began, if
 * the sender has part in it; a number may as well be that of a ticket. It stays locked until the message is in it:
 * threads before agents, whoever sends.
 */
export async function findMailThread(
  tx: Tx,
  { projectId, senderId, key }: { projectId: number; senderId: number; key: string },
): Promise<MailThreadRow | undefined> {
  const [named] = await tx.all<MailThreadRow>(sql`
    SELECT ${columns} FROM threads t WHERE t.key = ${key} AND t.project_id = ${projectId} ${forUpdate(tx, 't')}`)
  const first = firstMessage(key)
  if (named !== undefined || first === 0) return named
  const [begun] = await tx.all<MailThreadRow>(sql`
    SELECT ${columns} FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id = ${first} AND m.seq = 1 AND t.project_id = ${projectId} AND t.key IS NULL AND t.name IS NULL
      AND EXISTS (SELECT 1 FROM messages x WHERE x.thread_id = t.id AND (x.sender_id = ${senderId} OR EXISTS (
        SELECT 1 FROM deliveries d WHERE d.message_id = x.id AND d.recipient_id = ${senderId})))
    ${forUpdate(tx, 't')}`)
  return begun
}

/** Locked in the same way. */
export async function findThreadOf(tx: Tx, messageId: number): Promise<MailThreadRow | undefined> {
  const [row] = await tx.all<MailThreadRow>(sql`
    SELECT ${columns} FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id = ${messageId} ${forUpdate(tx, 't')}`)
  return row
}
