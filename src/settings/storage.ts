/** Settings of storage: the folder and the database that Parley keeps everything in. */
import { parseDatabaseUrl } from '../db/url.ts'
import { flag, folder, number, setting } from './kinds.ts'

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
  STORAGE_ROOT: setting({
    default: '~/.parley',
    says: 'Folder in which Parley keeps its files: the SQLite database and the key that signs session ids.',
    parse: folder,
  }),
  DATABASE_URL: setting({
    default: '',
    says: 'Database of all agents and messages: `sqlite:<file>` or `postgres://user:password@host/database`. Empty means `parley.sqlite3` in STORAGE_ROOT.',
    secret: true,
    parse: databaseUrl,
  }),
  DATABASE_POOL_SIZE: setting({
    default: '10',
    says: 'Connections that one node keeps to PostgreSQL for its work, beside two for wake-ups and the archive. Callers wait for a free one for 10 seconds, or as long as `?connect_timeout=` in DATABASE_URL says.',
    parse: number({ min: 2, max: 1000 }),
  }),
  DATABASE_ECHO: setting({
    default: 'false',
    says: 'Whether each SQL statement is logged at level debug, without its values.',
    parse: flag,
  }),
} as const
