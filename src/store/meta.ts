/** Rows of `meta`: what the specification of the bus has a database say of itself. */
import sql from 'sql-template-tag'
import type { Reader } from '../db/port.ts'

export async function findMeta(db: Reader, key: string): Promise<string | undefined> {
  const [row] = await db.all<{ value: string }>(sql`SELECT value FROM meta WHERE key = ${key}`)
  return row?.value
}
