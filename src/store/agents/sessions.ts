/** Rows of `ended_sessions` and `subscriptions`: MCP sessions that were ended, and the resources that others follow. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

/** False if it was ended already. */
export async function insertEndedSession(tx: Tx, nonce: string, expiresAt: number): Promise<boolean> {
  const written = await tx.change(sql`
    INSERT INTO ended_sessions (nonce, expires_at) VALUES (${nonce}, ${expiresAt}) ON CONFLICT (nonce) DO NOTHING`)
  return written > 0
}

export async function findEndedSession(db: Reader, nonce: string): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 FROM ended_sessions WHERE nonce = ${nonce}`)
  return rows.length > 0
}

/** Forgets those whose token has run out by itself. */
export async function deleteEndedSessions(tx: Tx, before: number): Promise<void> {
  await tx.all(sql`DELETE FROM ended_sessions WHERE expires_at < ${before}`)
}

export interface SubscriptionRow {
  uri: string
  since: string
}

/** In the order in which they were made. */
export const listSubscriptions = (db: Reader, session: string): Promise<SubscriptionRow[]> =>
  db.all(sql`SELECT uri, since FROM subscriptions WHERE session = ${session} ORDER BY created_at, uri`)

/** One that is there stays as it is. */
export async function insertSubscription(
  tx: Tx,
  { session, uri, since, now, expiresAt }: SubscriptionRow & { session: string; now: number; expiresAt: number },
): Promise<void> {
  await tx.all(sql`
    INSERT INTO subscriptions (session, uri, since, created_at, expires_at)
    VALUES (${session}, ${uri}, ${since}, ${now}, ${expiresAt}) ON CONFLICT (session, uri) DO NOTHING`)
}

export async function deleteSubscription(tx: Tx, session: string, uri: string): Promise<void> {
  await tx.all(sql`DELETE FROM subscriptions WHERE session = ${session} AND uri = ${uri}`)
}

/** Deletes the subscriptions of one session, and those of every session that expired. */
export async function deleteSubscriptions(tx: Tx, session: string, before: number): Promise<void> {
  await tx.all(sql`DELETE FROM subscriptions WHERE session = ${session} OR expires_at < ${before}`)
}
