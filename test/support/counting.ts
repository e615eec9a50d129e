/** The cost of calls: the rows that they have stored, the answers of the database that they have waited for. */
import type { Db } from '../../src/db/port.ts'
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

/** How much a Parley on SQLite has stored, read behind the server's back: what a refused call must not change. */
export function countRows(storage: string): Record<string, number> {
  const counted = (table: string) => look<{ n: number }>(storage, `SELECT COUNT(*) AS n FROM ${table}`)[0]?.n ?? -1
  return Object.fromEntries(tables.map((table) => [table, counted(table)]))
}

/** How often units of work have waited for a statement from here on. The COMMIT comes on top, unless the statement is the unit. */
export function countWaits(db: Db): () => number {
  let count = 0
  const run = db.tx.bind(db)
  const waited =
    <Query, Result>(statement: (query: Query) => Promise<Result>) =>
    (query: Query) => {
      count++
      return statement(query)
    }
  db.tx = (work, options) =>
    run(
      (tx) =>
        work({
          dialect: tx.dialect,
          all: waited((query) => tx.all(query)) as typeof tx.all,
          insert: waited((query) => tx.insert(query)),
          change: waited((query) => tx.change(query)),
          enqueue: (query) => tx.enqueue(query),
          autocommit: tx.autocommit && (waited(tx.autocommit) as typeof tx.autocommit),
        }),
      options,
    )
  return () => count
}
