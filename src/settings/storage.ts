/** Settings of storage: the folder and the database that Parley keeps everything in. */
import { parseDatabaseUrl } from '../db/url.ts'
import { flag, folder, number, parsed } from './kinds.ts'

function databaseUrl(raw: string): string | undefined {
  if (raw === '') return undefined
  try {
    parseDatabaseUrl(raw)
  } catch {
    throw new Error('must be sqlite:<file> or postgres://<user>:<password>@<host>/<database>')
  }
  return raw
}

export const storageSettings = {
  STORAGE_ROOT: parsed('~/.parley', folder).says(
    'Folder in which Parley keeps its files: the SQLite database and the key that signs session ids.',
  ),
  DATABASE_URL: parsed('', databaseUrl).secret(
    'Database that holds all agents and messages: `sqlite:<file>` or `postgres://user:password@host/database`. Empty means `parley.sqlite3` in STORAGE_ROOT.',
  ),
  DATABASE_POOL_SIZE: number(10, { min: 2, max: 1000 }).says(
    'Connections that one node keeps to PostgreSQL for its work, besides two for wake-ups and the archive. A caller waits 10 seconds for a free one, or as long as `?connect_timeout=` in DATABASE_URL says.',
  ),
  DATABASE_ECHO: flag(false).says('Whether each SQL statement is logged at level debug, without its values.'),
}
