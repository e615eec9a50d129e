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

/** Where a URL names its servers: `postgres://user:password@one:5432,two:5433/database`. */
const serversPattern = /^(postgres:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/s

/** A URL for each server that the URL of a database names. */
export function serversIn(url: string): string[] {
  const [, before = '', servers = '', after = ''] = serversPattern.exec(url) ?? []
  return servers.includes(',') ? servers.split(',').map((server) => `${before}${server}${after}`) : [url]
}

/** A database URL as anybody may see it: where the data is, but neither user, password nor parameters. */
export function shownUrl(databaseUrl: string): string {
  const place = parseDatabaseUrl(databaseUrl)
  if (place.dialect === 'sqlite') return `sqlite:${place.file}`
  const servers = serversIn(place.url).map((url) => URL.parse(url) ?? { host: '', pathname: '' })
  const [{ pathname } = { pathname: '' }] = servers
  // A password that should have been encoded may have become a part of the path, or one of the servers.
  if (servers.some(({ host, pathname }) => pathname.includes('@') || (host === '' && servers.length > 1)))
    return 'postgres:'
  return `postgres://${servers.map(({ host }) => host).join(',')}${pathname}`
}

function unknownForm(): HubError {
  return new HubError('INVALID_ARGUMENT', 'DATABASE_URL names no database that Parley knows.', {
    hint: 'Use sqlite:<path>, sqlite:///<path> or postgres://<user>:<password>@<host>:<port>/<database>.',
  })
}
