/** Threads as mail finds them: by their key, or by their first message. */
import sql, { type Sql } from 'sql-template-tag'
import { forUpdate } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

const firstMessage = (key: string): number => (/^[1-9]\d{0,14}$/.test(key) ? Number(key) : 0)

/** The ids of the threads that go by a name: their key, their uid, or the id of their first message. */
export const threadsCalled = (key: string): Sql => sql`
  SELECT id FROM threads WHERE key = ${key}
  UNION SELECT id FROM threads WHERE uid = ${key}
  UNION SELECT thread_id FROM messages WHERE id = ${firstMessage(key)} AND seq = 1`

/** More threads of one name than this are not read. */
export const mostThreads = 50

export function listThreadsCalled(db: Reader, key: string): Promise<{ id: number; project_id: number }[]> {
  return db.all(sql`
    SELECT id, project_id FROM threads WHERE status <> 'deleted' AND id IN (${threadsCalled(key)})
    ORDER BY id LIMIT ${mostThreads}`)
}

export interface MailThreadRow {
  id: number
  project_id: number
  key: string | null
  root_id: number
}

const columns = sql`t.id, t.project_id, t.key, (SELECT r.id FROM messages r WHERE r.thread_id = t.id AND r.seq = 1) AS root_id`

/**
 * The thread of this project that a sender means by a key: the one called so, else the one that this message began. It
 * stays locked until the message is in it: threads before agents, whoever sends.
 */
export async function findMailThread(tx: Tx, projectId: number, key: string): Promise<MailThreadRow | undefined> {
  const [named] = await tx.all<MailThreadRow>(sql`
    SELECT ${columns} FROM threads t WHERE t.key = ${key} AND t.project_id = ${projectId} ${forUpdate(tx, 't')}`)
  if (named !== undefined || firstMessage(key) === 0) return named
  const [begun] = await tx.all<MailThreadRow>(sql`
    SELECT ${columns} FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id = ${firstMessage(key)} AND m.seq = 1 AND t.project_id = ${projectId} AND t.key IS NULL AND t.name IS NULL
    ${forUpdate(tx, 't')}`)
  return begun
}

/** Locked in the same way. */
export async function findThreadOf(tx: Tx, messageId: number): Promise<MailThreadRow | undefined> {
  const [row] = await tx.all<MailThreadRow>(sql`
    SELECT ${columns} FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id = ${messageId} ${forUpdate(tx, 't')}`)
  return row
}
