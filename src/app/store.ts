/** The whole store of an installation: its database, its archives and its key, wherever they are. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listFile } from '../archive/archive.ts'
import { pause } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { openDb } from '../db/open.ts'
import type { Db } from '../db/port.ts'
import { isOpenElsewhere } from '../db/sqlite/open-elsewhere.ts'
import { refuseForeign } from '../db/sqlite/owner.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Config } from '../settings/all.ts'
import { countOthers, countRows, dropTables, keptTables, leftOut, listTables } from '../store/exports/tables.ts'
import { archiveFolder } from './archive-place.ts'
import { databaseFiles, databaseName, databaseUrl, databaseWays, sizeOf } from './database-place.ts'
import { serveLog } from './detach.ts'
import { isBeyondReading } from './loss.ts'
import { noStore } from './open.ts'
import { notesFolder } from './running.ts'
import { tokenFile } from './token.ts'

interface Holding {
  readonly path: string
  readonly bytes: number
}

/** Everything that is there, and how much it is. */
interface Survey {
  /** The name of the database, as a person may read it. */
  readonly database: string
  /** Of SQLite, its files; the tables of PostgreSQL are on its server. */
  readonly files: readonly Holding[]
  /** Rows by table; empty where there is no database. */
  readonly rows: Readonly<Record<string, number>>
  /** The projects that have an archive. */
  readonly archives: readonly string[]
  /** Other things in the folder, which stay. */
  readonly strangers: readonly string[]
}

/** The files in Parley's folder besides the database and the archives. */
const ownFiles = ({ STORAGE_ROOT: root }: Config): string[] => [
  join(root, 'secret.key'),
  tokenFile(root),
  serveLog(root),
  notesFolder(root),
]

/** Of each noun that people know. */
const counted = ['projects', 'agents', 'threads', 'messages', 'leases']

export async function surveyStore(config: Config): Promise<Survey> {
  const place = parseDatabaseUrl(databaseUrl(config))
  const archives = archiveFolder(config)
  const absent = place.dialect === 'sqlite' && !existsSync(place.file)
  const rows = absent || isBeyondReading(databaseUrl(config)) ? {} : await countAll(config)
  const own = place.dialect === 'sqlite' ? databaseFiles(place.file) : []
  const files = [...own, archives, listFile(archives), ...ownFiles(config)]
    .filter((path) => existsSync(path))
    .map((path) => ({ path, bytes: sizeOf(path) }))
  const inFolder = existsSync(config.STORAGE_ROOT) ? readdirSync(config.STORAGE_ROOT) : []
  const survey = {
    database: databaseName(config).replace(/^sqlite:/, ''),
    files,
    rows,
    archives: existsSync(archives) ? readdirSync(archives).filter((name) => !name.startsWith('.')) : [],
    strangers: inFolder
      .map((name) => join(config.STORAGE_ROOT, name))
      .filter((path) => !files.some((f) => f.path === path)),
  }
  if (files.length === 0 && Object.keys(rows).length === 0) throw noStore(config)
  return survey
}

async function countAll(config: Config): Promise<Record<string, number>> {
  return withDb(config, async (db) => {
    const there = new Set(await listTables(db))
    const rows: Record<string, number> = {}
    for (const name of counted) if (there.has(name)) rows[name] = await countRows(db, name)
    return rows
  })
}

/** A database of another program is refused before it is opened. */
async function withDb<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDb(databaseUrl(config), databaseWays(config))
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** A client that has just left is still there for a moment, as PostgreSQL sees it. */
const [leavingMs, lookEveryMs] = [3000, 100]

async function hasOthers(db: Db): Promise<boolean> {
  for (let waited = 0; (await db.tx(countOthers)) > 0; waited += lookEveryMs) {
    if (waited >= leavingMs) return true
    await pause(lookEveryMs)
  }
  return false
}

/** Throws while another process has the store open: it would write on into what is gone. */
export async function needUnused(config: Config): Promise<void> {
  const place = parseDatabaseUrl(databaseUrl(config))
  if (place.dialect === 'sqlite' && !existsSync(place.file)) return
  // Nor can a process that has it open make anything of it.
  if (isBeyondReading(databaseUrl(config))) return
  if (place.dialect === 'sqlite') refuseForeign(place.file)
  const used = place.dialect === 'sqlite' ? isOpenElsewhere(place.file) : await withDb(config, hasOthers)
  if (used)
    throw new HubError('DB_BUSY', `Another process has ${databaseName(config).replace(/^sqlite:/, '')} open.`, {
      hint: 'Nothing was changed. Stop `parley serve`, and the clients that started `parley bus`, then try again.',
    })
}

/** Everything that `surveyStore` names goes, for good; strangers stay. */
export async function removeStore(config: Config): Promise<void> {
  await needUnused(config)
  const place = parseDatabaseUrl(databaseUrl(config))
  if (place.dialect === 'postgres') await withDb(config, (db) => db.tx(dropOwn))
  else for (const path of databaseFiles(place.file)) rmSync(path, { force: true })
  removeArchive(config)
  for (const file of ownFiles(config)) rmSync(file, { recursive: true, force: true })
}

export function removeArchive(config: Config): void {
  const folder = archiveFolder(config)
  for (const path of [listFile(folder), folder]) rmSync(path, { recursive: true, force: true })
}

/** A schema in which Parley's tables are not is somebody else's. */
const dropOwn: Parameters<Db['tx']>[0] = async (tx) => {
  const tables = await listTables(tx)
  if (tables.includes('parley_migrations')) await dropTables(tx)
}

/** Whether there is anything that a restore would replace. */
export async function isStoreThere(config: Config): Promise<boolean> {
  const place = parseDatabaseUrl(databaseUrl(config))
  const archives = archiveFolder(config)
  if (existsSync(archives) && readdirSync(archives).length > 0) return true
  if (place.dialect === 'sqlite') return (statSync(place.file, { throwIfNoEntry: false })?.size ?? 0) > 0
  return withDb(config, async (db) => {
    const tables = await listTables(db)
    if (tables.length > 0 && !tables.includes('parley_migrations'))
      throw new HubError('DB_SCHEMA_MISMATCH', `${databaseName(config)} holds the tables of another program.`, {
        hint: 'Nothing was changed. Name an empty database (or schema) with DATABASE_URL.',
      })
    return tables.some((name) => leftOut(name) || keptTables.some((table) => table.name === name))
  })
}
