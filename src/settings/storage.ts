/** Settings of storage: the folder and the database that Parley keeps everything in. */
import { parseDatabaseUrl } from '../db/url.ts'
import { flag, number, oneOf, parsed, storageRoot } from './kinds.ts'

function databaseUrl(raw: string): string | undefined {
  if (raw === '') return undefined
  try {
    parseDatabaseUrl(raw)
  } catch {
    throw new Error('must be sqlite:<file> or postgres://<user>:<password>@<host>/<database>')
  }
  return raw
}

function listenUrl(raw: string): string | undefined {
  if (raw === '') return undefined
  const place = databaseUrl(raw) === undefined ? undefined : parseDatabaseUrl(raw)
  if (place?.dialect !== 'postgres') throw new Error('must be postgres://<user>:<password>@<host>/<database>')
  return place.url
}

export const storageSettings = {
  STORAGE_ROOT: storageRoot.says(
    'Folder in which Parley keeps its files: the SQLite database and the key that signs session ids.',
  ),
  DATABASE_URL: parsed('', databaseUrl).secret(
    'Database that holds all agents and messages: `sqlite:<file>` or `postgres://user:password@host/database`. Empty means `parley.sqlite3` in STORAGE_ROOT. Several hosts of PostgreSQL are separated by commas (`@one,two:5433/database`): Parley uses the one that takes writes, and goes to another when that changes. `?target_session_attrs=read-write` says the same of one name that stands for several servers.',
  ),
  DATABASE_POOLER: oneOf(['none', 'transaction'], 'none').says(
    'What stands between Parley and PostgreSQL: `none`, or `transaction` for a pooler that hands out connections for one transaction each, as PgBouncer with `pool_mode = transaction`. It needs DATABASE_LISTEN_URL.',
  ),
  DATABASE_LISTEN_URL: parsed('', listenUrl).secret(
    'URL of PostgreSQL itself, past the pooler, for the connection by which nodes wake each other. The same database as in DATABASE_URL. Only with DATABASE_POOLER=transaction.',
  ),
  DATABASE_POOL_SIZE: number(10, { min: 2, max: 1000 }).says(
    'Connections that one node keeps to PostgreSQL for its work, besides two for wake-ups and the archive. A caller waits 10 seconds for a free one, or as long as `?connect_timeout=` in DATABASE_URL says.',
  ),
  DATABASE_ECHO: flag(false).says('Whether each SQL statement is logged at level debug, without its values.'),
}
