/** Whose file it is, found out without changing what it holds. */
import type { DatabaseSync } from 'node:sqlite'
import { HubError } from '../../base/errors.ts'
import { tableNames } from '../dialect.ts'
import { isSqliteUnreadable, sqliteFault } from '../faults.ts'
import { migrationsTable } from '../migrate.ts'
import { migrations } from '../migrations/all.ts'
import { lookAt, sizeOf } from './open-untouched.ts'

/** "Parl" in ASCII: SQLite keeps it in the file's header for programs to know their own files by. */
export const applicationId = 0x5061726c

/** Of every database (https://www.sqlite.org/fileformat2.html#the_database_header). */
const headerSize = 100

/** Throws DB_SCHEMA_MISMATCH unless the file is Parley's, empty or absent. What SQLite can open is never called unreadable. */
export function refuseForeign(file: string): void {
  const size = sizeOf(file)
  if (size === 0) return
  // SQLite itself would take a file of a few bytes for an empty one, and write over them; unless its log has the rest.
  if (size < headerSize && sizeOf(`${file}-wal`) === 0) throw unreadable(file)
  const { marked, tables, newest } = ownerOf(file)
  if (marked) return
  // A copy made from a dump has lost the mark, but not the tables.
  if (tables.length > 0 && !tables.includes(migrationsTable)) throw mismatch(file, 'is the database of another program')
  if (!migrations.some(({ id }) => newest <= id)) throw mismatch(file, 'was made by a newer Parley')
}

interface Owner {
  readonly marked: boolean
  readonly tables: readonly unknown[]
  /** The last migration. */
  readonly newest: number
}

/**
 * Read by SQLite and not as a file: closing a descriptor of the file drops all locks that this process has on it, those of
 * other connections too (fcntl). SQLite keeps its own open until they are gone.
 */
function ownerOf(file: string): Owner {
  try {
    return lookAt(file, look)
  } catch (error) {
    throw isSqliteUnreadable(error) ? unreadable(file, error) : sqliteFault(error)
  }
}

function look(db: DatabaseSync): Owner {
  // Written before anything else, and never changed.
  if (db.prepare('PRAGMA application_id').get()?.application_id === applicationId)
    return { marked: true, tables: [], newest: 0 }
  const tables = db
    .prepare(tableNames({ dialect: 'sqlite' }).sql)
    .all()
    .map((row) => row.name)
  const newest = tables.includes(migrationsTable)
    ? db.prepare(`SELECT MAX(id) AS id FROM ${migrationsTable}`).get()?.id
    : 0
  return { marked: false, tables, newest: Number(newest ?? 0) }
}

function unreadable(file: string, cause?: unknown): HubError {
  return mismatch(file, 'is not a database that SQLite can read', cause)
}

function mismatch(file: string, what: string, cause?: unknown): HubError {
  return new HubError('DB_SCHEMA_MISMATCH', `${file} ${what}; it was not touched.`, {
    hint: 'Name another file: set STORAGE_ROOT or DATABASE_URL.',
    cause,
  })
}
