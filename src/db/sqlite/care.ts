/** Looking after a SQLite file. A check and figures only read it; a vacuum writes it anew, and needs it alone. */
import { DatabaseSync } from 'node:sqlite'
import { nextTurn } from '../../base/clock.ts'
import type { DatabaseCare, TableProgress } from '../care.ts'
import { isSqliteUnreadable } from '../faults.ts'
import { openLooking, sizeOf } from './open-untouched.ts'

/** More of them say nothing new. */
const mostFaults = 20

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export function careOfSqlite(file: string): DatabaseCare {
  return {
    async check(progress) {
      return looking(async (db) => {
        const faults: string[] = []
        const tables = tablesOf(db)
        for (const [at, table] of tables.entries()) {
          progress(at, tables.length)
          // Between two tables the line of the progress is written.
          await nextTurn()
          for (const fault of faultsOf(db, table)) if (faults.length < mostFaults) faults.push(fault)
        }
        // It fails at the first page that is damaged.
        const lost = faults.length > 0 ? [] : db.prepare('PRAGMA foreign_key_check').all().slice(0, mostFaults)
        for (const { table, rowid, parent } of lost)
          faults.push(`row ${rowid} of ${table} refers to no row of ${parent}`)
        progress(tables.length, tables.length)
        return faults
      })
    },

    async vacuum(progress: TableProgress) {
      const db = new DatabaseSync(file, { timeout: 0 })
      try {
        // Into the file, out of the log, which else would hold all of it a second time.
        for (const [at, step] of [
          'PRAGMA wal_checkpoint(TRUNCATE)',
          'VACUUM',
          'PRAGMA wal_checkpoint(TRUNCATE)',
        ].entries()) {
          progress(at, 3)
          await nextTurn()
          db.exec(step)
        }
        db.exec('PRAGMA optimize')
        progress(3, 3)
      } finally {
        db.close()
      }
    },

    async stats() {
      return looking(async (db) => {
        const one = (text: string): number => Number(Object.values(db.prepare(text).get() ?? {})[0])
        const sizes = sizesOf(db)
        return {
          engine: `SQLite ${Object.values(db.prepare('SELECT sqlite_version()').get() ?? {})[0]}`,
          bytes: sizeOf(file) + sizeOf(`${file}-wal`),
          freeBytes: one('PRAGMA freelist_count') * one('PRAGMA page_size'),
          tables: tablesOf(db).map((name) => ({
            name,
            rows: one(`SELECT COUNT(*) FROM ${quoted(name)}`),
            bytes: sizes?.get(name),
          })),
        }
      })
    },

    async close() {},
  }

  async function looking<T>(work: (db: DatabaseSync) => Promise<T>): Promise<T> {
    const db = openLooking(file)
    try {
      return await work(db)
    } finally {
      db.close()
    }
  }
}

/** The tables of the search index are parts of a virtual one; each is a table of its own in the file. */
const tablesOf = (db: DatabaseSync): string[] =>
  db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
    .all()
    .map(({ name }) => String(name))

/** Some damage SQLite finds, and at some it gives up. */
function faultsOf(db: DatabaseSync, table: string): string[] {
  try {
    const rows = db.prepare(`PRAGMA integrity_check(${quoted(table)})`).all()
    return rows.map((row) => String(Object.values(row)[0])).filter((says) => says !== 'ok')
  } catch (error) {
    if (!isSqliteUnreadable(error)) throw error
    return [`${table}: the database disk image is malformed`]
  }
}

/** Of each table with its indexes; undefined where this SQLite was built without the table that tells. */
function sizesOf(db: DatabaseSync): Map<string, number> | undefined {
  try {
    const rows = db
      .prepare(
        'SELECT s.tbl_name AS name, SUM(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name GROUP BY s.tbl_name',
      )
      .all()
    return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]))
  } catch {
    return undefined
  }
}
