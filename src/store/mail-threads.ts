/** Threads as mail finds them: by their key, or by their first message. */
import sql from 'sql-template-tag'
import type { Reader } from '../db/port.ts'

export interface MailThreadRow {
  id: number
  project_id: number
  key: string | null
  root_id: number
}

const columns = sql`t.id, t.project_id, t.key, (SELECT r.id FROM messages r WHERE r.thread_id = t.id AND r.seq = 1) AS root_id`

/** The thread of this project that a sender means by a key: the one called so, else the one that this message began. */
export async function findMailThread(db: Reader, projectId: number, key: string): Promise<MailThreadRow | undefined> {
  const [named] = await db.all<MailThreadRow>(sql`
    SELECT ${columns} FROM threads t WHERE t.key = ${key} AND t.project_id = ${projectId}`)
  if (named !== undefined || !/^[1-9]\d{0,14}$/.test(key)) return named
  const [begun] = await db.all<MailThreadRow>(sql`
    SELECT ${columns} FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id = ${Number(key)} AND m.seq = 1 AND t.project_id = ${projectId} AND t.key IS NULL AND t.name IS NULL`)
  return begun
}

export async function findThreadOf(db: Reader, messageId: number): Promise<MailThreadRow | undefined> {
  const [row] = await db.all<MailThreadRow>(sql`
    SELECT ${columns} FROM messages m JOIN threads t ON t.id = m.thread_id WHERE m.id = ${messageId}`)
  return row
}
