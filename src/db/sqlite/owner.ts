/** Whose file it is, found out without changing a byte of it. */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { HubError } from '../../base/errors.ts'
import { tableNames } from '../dialect.ts'
import { migrationsTable } from '../migrate.ts'
import { migrations } from '../migrations/all.ts'

/** "Parl" in ASCII: SQLite keeps it in the file's header for programs to know their own files by. */
export const applicationId = 0x5061726c

/** Of every database (https://www.sqlite.org/fileformat2.html#the_database_header). */
const headerSize = 100

/**
 * Throws DB_SCHEMA_MISMATCH unless the file is Parley's, empty or absent. The mark in the header is written before
 * anything else and never changes, so it can be read without a lock while others write.
 */
export function refuseForeign(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  // SQLite itself would take a file of a few bytes for an empty one, and write over them.
  if (size < headerSize) throw unreadable(file)
  if (markOf(file) === applicationId) return
  // A copy made from a dump has lost the mark, but not the tables.
  const { tables, newest } = look(file)
  if (tables.length > 0 && !tables.includes(migrationsTable)) throw mismatch(file, 'is the database of another program')
  if (!migrations.some(({ id }) => newest <= id)) throw mismatch(file, 'was made by a newer Parley')
}

/**
 * Read by SQLite and not as a file: closing a descriptor of the file drops all locks that this process has on it, those of
 * other connections too (fcntl). SQLite keeps its own open until they are gone.
 */
function markOf(file: string): unknown {
  try {
    const db = new DatabaseSync(immutable(file), { readOnly: true })
    try {
      return db.prepare('PRAGMA application_id').get()?.application_id
    } finally {
      db.close()
    }
  } catch (error) {
    throw unreadable(file, error)
  }
}

function look(file: string): { tables: unknown[]; newest: number } {
  const db = new DatabaseSync(lookOnly(file), { readOnly: true, open: false })
  try {
    db.open()
    const tables = db
      .prepare(tableNames({ dialect: 'sqlite' }).sql)
      .all()
      .map((row) => row.name)
    const newest = tables.includes(migrationsTable)
      ? db.prepare(`SELECT MAX(id) AS id FROM ${migrationsTable}`).get()?.id
      : 0
    return { tables, newest: Number(newest ?? 0) }
  } catch (error) {
    throw unreadable(file, error)
  } finally {
    if (db.isOpen) db.close()
  }
}

/** A read-only connection would leave a -wal and a -shm file behind. An immutable one leaves nothing, but sees no WAL. */
export function lookOnly(file: string): string | URL {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0 ? file : immutable(file)
}

function immutable(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
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
