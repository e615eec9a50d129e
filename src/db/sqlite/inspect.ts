/** Looking into a SQLite file without changing anything of it, or making anything beside it. */
import type { SQLInputValue } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'
import type { Reader } from '../port.ts'
import { openLooking } from './open-untouched.ts'

interface Look extends Reader {
  /** Faults that SQLite itself finds: in its pages and indexes, and rows that refer to none. */
  faults(): string[]
}

/** More of them say nothing new. */
const mostFaults = 5

export async function lookInto<T>(file: string, work: (look: Look) => Promise<T>): Promise<T> {
  const db = openLooking(file)
  try {
    return await work({
      dialect: 'sqlite',
      all: async <Row>({ sql, values }: Sql) => db.prepare(sql).all(...(values as SQLInputValue[])) as Row[],
      faults() {
        const pages = db
          .prepare(`PRAGMA quick_check(${mostFaults})`)
          .all()
          .map((row) => String(Object.values(row)[0]))
          .filter((text) => text !== 'ok')
        const strays = db.prepare('PRAGMA foreign_key_check').all().slice(0, mostFaults)
        return [
          ...pages,
          ...strays.map(({ table, rowid, parent }) => `row ${rowid} of ${table} refers to no row of ${parent}`),
        ]
      },
    })
  } finally {
    db.close()
  }
}
