/** From DATABASE_URL to a database. */
import { accessSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Sql } from 'sql-template-tag'
import { HubError } from '../base/errors.ts'
import type { Db } from './port.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { parseDatabaseUrl } from './url.ts'

export interface OpenOptions {
  readonly poolSize?: number
  /** Whether a pooler that hands out transactions stands before PostgreSQL, and where a connection past it can be had. */
  readonly pooled?: boolean
  readonly listenUrl?: string | undefined
  /** Finds the last change of a store, as `id`: on SQLite the number of the last acknowledged one is kept beside the file. */
  readonly lastChange?: Sql
}

export async function openDb(
  databaseUrl: string,
  { lastChange, poolSize: connections, ...postgres }: OpenOptions = {},
): Promise<Db> {
  const place = parseDatabaseUrl(databaseUrl)
  if (place.dialect === 'postgres') {
    // Loaded only where it is asked for.
    const { openPostgres } = await import('./postgres/postgres.ts')
    return openPostgres(place.url, { connections, ...postgres })
  }
  makePrivate(place.file)
  return openSqlite(place.file, { lastChange })
}

/** Messages may be private, hence the mode of the file. An existing file keeps the mode its owner gave it. */
function makePrivate(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const there = statSync(file, { throwIfNoEntry: false })
    if (there === undefined) closeSync(openSync(file, 'a', 0o600))
    // Opening and closing it would drop the locks of other connections of this process (sqlite/owner.ts).
    else if (there.isFile()) accessSync(file, constants.R_OK | constants.W_OK)
    else throw new Error(`${file} is no file`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new HubError('INVALID_ARGUMENT', `The database file cannot be opened: ${reason}`, {
      hint: 'Name a file that you may write with STORAGE_ROOT or DATABASE_URL.',
      cause: error,
    })
  }
}
