/** Rows of `ended_sessions`: MCP sessions that a client ended before their time was up. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export async function insertEndedSession(tx: Tx, nonce: string, expiresAt: number): Promise<void> {
  await tx.all(sql`
    INSERT INTO ended_sessions (nonce, expires_at) VALUES (${nonce}, ${expiresAt}) ON CONFLICT (nonce) DO NOTHING`)
}

export async function findEndedSession(db: Reader, nonce: string): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 FROM ended_sessions WHERE nonce = ${nonce}`)
  return rows.length > 0
}

/** Forgets those whose token has run out by itself. */
export async function deleteEndedSessions(tx: Tx, before: number): Promise<void> {
  await tx.all(sql`DELETE FROM ended_sessions WHERE expires_at < ${before}`)
}
