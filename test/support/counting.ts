/** How much a Parley on SQLite has stored: what a refused call must not change. */
import { look } from './bus.ts'

const tables = [
  'projects',
  'agents',
  'threads',
  'messages',
  'message_guests',
  'deliveries',
  'client_ids',
  'contacts',
  'leases',
  'changes',
] as const

/** Rows by table, read behind the server's back. */
export function countRows(storage: string): Record<string, number> {
  const counted = (table: string) => look<{ n: number }>(storage, `SELECT COUNT(*) AS n FROM ${table}`)[0]?.n ?? -1
  return Object.fromEntries(tables.map((table) => [table, counted(table)]))
}
