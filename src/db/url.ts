/** Which database a DATABASE_URL names. */
import { resolve } from 'node:path'
import { HubError } from '../base/errors.ts'

type DatabasePlace = { dialect: 'sqlite'; file: string } | { dialect: 'postgres'; url: string }

/** The specs write SQLAlchemy's URLs, which name a driver after a `+`: it is taken as the engine that it drives. */
export function parseDatabaseUrl(databaseUrl: string): DatabasePlace {
  const [, engine, driver, rest = ''] = /^(sqlite|postgres(?:ql)?)(\+[a-z0-9]+)?:(.+)$/s.exec(databaseUrl) ?? []
  if (engine === 'sqlite') return { dialect: 'sqlite', file: sqliteFile(rest, driver !== undefined) }
  if (engine === undefined || !rest.startsWith('//')) throw unknownForm()
  return { dialect: 'postgres', url: `postgres:${rest}` }
}

/**
 * `sqlite:<path>` is a plain path. `sqlite:///<path>` is absolute, as in any URL, unless it begins with a dot; with a
 * driver, SQLAlchemy counts: three slashes are a relative path, four an absolute one.
 */
function sqliteFile(rest: string, sqlAlchemy: boolean): string {
  const path = rest.startsWith('//') ? rest.slice(2) : rest
  if (path === '' || path === ':memory:' || (path !== rest && !path.startsWith('/'))) throw unknownForm()
  const relative = path !== rest && (sqlAlchemy || /^\/\.{1,2}\//.test(path))
  return resolve(relative ? path.slice(1) : path)
}

/** A database URL as anybody may see it: where the data is, but neither user, password nor parameters. */
export function shownUrl(databaseUrl: string): string {
  const place = parseDatabaseUrl(databaseUrl)
  if (place.dialect === 'sqlite') return `sqlite:${place.file}`
  const { host, pathname } = URL.parse(place.url) ?? { host: '', pathname: '' }
  // A password that should have been encoded may have become a part of the path.
  return pathname.includes('@') ? 'postgres:' : `postgres://${host}${pathname}`
}

function unknownForm(): HubError {
  return new HubError('INVALID_ARGUMENT', 'DATABASE_URL names no database that Parley knows.', {
    hint: 'Use sqlite:<path>, sqlite:///<path> or postgres://<user>:<password>@<host>:<port>/<database>.',
  })
}
