/** Rows of `meta`: what the specification of the bus has a database say of itself, and places of work in the background. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export async function findMeta(db: Reader, key: string): Promise<string | undefined> {
  const [row] = await db.all<{ value: string }>(sql`SELECT value FROM meta WHERE key = ${key}`)
  return row?.value
}

export async function upsertMeta(tx: Tx, key: string, value: string): Promise<void> {
  await tx.change(sql`
    INSERT INTO meta (key, value) VALUES (${key}, ${value}) ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
}
