/** Where the data of an installation is: as settings, as files, and as a person may read it. It loads no database. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseDatabaseUrl, shownUrl } from '../db/url.ts'
import type { Config } from '../settings/all.ts'

export const databaseUrl = ({ DATABASE_URL, STORAGE_ROOT }: Config): string =>
  DATABASE_URL ?? `sqlite:${join(STORAGE_ROOT, 'parley.sqlite3')}`

/** How the driver of PostgreSQL goes to the database. */
export const databaseWays = ({ DATABASE_POOLER, DATABASE_LISTEN_URL }: DatabaseWays) => ({
  pooled: DATABASE_POOLER === 'transaction',
  listenUrl: DATABASE_LISTEN_URL,
})

type DatabaseWays = Pick<Config, 'DATABASE_POOLER' | 'DATABASE_LISTEN_URL'>

/** The engine, and the file or the host and database, as a person may read it: a URL of PostgreSQL has a password in it. */
export function storageName(config: Config): string {
  const place = parseDatabaseUrl(databaseUrl(config))
  return place.dialect === 'sqlite'
    ? `SQLite ${place.file}`
    : `PostgreSQL ${databaseName(config).replace(/^postgres:(\/\/)?/, '')}`.trimEnd()
}

/** The same as a URL without user, password and parameters, for clients. */
export const databaseName = (config: Config): string => shownUrl(databaseUrl(config))

/** A SQLite database, and what SQLite and Parley keep beside it. */
export const databaseFiles = (file: string): string[] =>
  ['', '-wal', '-shm', '-bell', '-journal', '-acknowledged'].map((end) => file + end).filter((path) => existsSync(path))

export function sizeOf(path: string): number {
  const { size } = statSync(path)
  if (!statSync(path).isDirectory()) return size
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
}
