/** From DATABASE_URL to a database. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { HubError } from '../base/errors.ts'
import type { Db } from './port.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { parseDatabaseUrl } from './url.ts'

export async function openDb(databaseUrl: string, { poolSize }: { poolSize?: number } = {}): Promise<Db> {
  const place = parseDatabaseUrl(databaseUrl)
  if (place.dialect === 'postgres') {
    // Loaded only where it is asked for.
    const { openPostgres } = await import('./postgres/postgres.ts')
    return openPostgres(place.url, poolSize)
  }
  makePrivate(place.file)
  return openSqlite(place.file)
}

/** Messages may be private, hence the mode of the file. An existing file keeps the mode its owner gave it. */
function makePrivate(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new HubError('INVALID_ARGUMENT', `The database file cannot be opened: ${reason}`, {
      hint: 'Name a file that you may write with STORAGE_ROOT or DATABASE_URL.',
      cause: error,
    })
  }
}
