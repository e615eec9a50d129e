/** Every row that a backup keeps, to compare one database with another. */
import { openDb } from '../../src/db/open.ts'
import type { Db } from '../../src/db/port.ts'
import { columnsOf, keptTables, listRowsAfter, type Row } from '../../src/store/exports/tables.ts'

/** By table, without those that are named. */
export async function allRows(url: string, but: readonly string[] = []): Promise<Record<string, Row[]>> {
  const db = await openDb(url)
  try {
    return await rowsOf(db, but)
  } finally {
    await db.close()
  }
}

/** The same for who looks again and again: to open a database takes longer than to read it. */
export async function rowsOf(db: Db, but: readonly string[] = []): Promise<Record<string, Row[]>> {
  const found: Record<string, Row[]> = {}
  for (const table of keptTables)
    if (!but.includes(table.name))
      found[table.name] = (await listRowsAfter(db, table, undefined, 100_000)).map((row) =>
        Object.fromEntries(columnsOf(table, row).map((column) => [column, plain(row[column])])),
      )
  return found
}

/** Bytes are of another class with each engine. */
const plain = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)
