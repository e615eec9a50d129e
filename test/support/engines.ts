/** The same tests on both engines, each test with databases of its own. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, inject } from 'vitest'
import { openDb } from '../../src/db/open.ts'
import type { Db, Dialect } from '../../src/db/port.ts'

/** A database that goes away with the test. */
export interface TestDatabase {
  readonly dialect: Dialect
  readonly url: string
  /** Another connection, as another process would have. The test may close it; otherwise the end of the test does. */
  connect(): Promise<Db>
}

/** A new database with Parley's tables. */
export type OpenDatabase = (options?: {
  /** Without tables. */
  empty?: boolean
  /** With all that is in this one, to which nobody is connected. */
  like?: TestDatabase
  /** It goes away with the last test of the engine: for a `beforeAll`, and for others to be like it. */
  lasting?: boolean
}) => Promise<TestDatabase>

/** Where databases come from. */
export interface Engine {
  readonly dialect: Dialect
  start(): Promise<void>
  create(options: { empty: boolean; like?: string }): Promise<string>
  /** Removes the databases, and throws if somebody is still connected to one. */
  remove(urls: readonly string[]): Promise<void>
  stop(): Promise<void>
}

export const engines = (): Engine[] => [sqlite(), postgres()]

export function eachEngine(title: string, tests: (open: OpenDatabase, dialect: Dialect) => void): void {
  for (const engine of engines()) {
    describe(`${title} (${engine.dialect})`, () => {
      const urls: string[] = []
      const lastingUrls: string[] = []
      const connected: Db[] = []
      beforeAll(() => engine.start())
      afterAll(async () => {
        await engine.remove(lastingUrls)
        await engine.stop()
      })
      afterEach(async () => {
        await Promise.all(connected.splice(0).map((db) => db.close()))
        await engine.remove(urls.splice(0))
      })
      tests(async ({ empty = false, like, lasting = false } = {}) => {
        const url = await engine.create({ empty, ...(like && { like: like.url }) })
        ;(lasting ? lastingUrls : urls).push(url)
        const connect = async () => {
          const db = await openDb(url)
          connected.push(db)
          return db
        }
        return { dialect: engine.dialect, url, connect }
      }, engine.dialect)
    })
  }
}

function sqlite(): Engine {
  let folder: string
  let count = 0
  return {
    dialect: 'sqlite',
    async start() {
      folder = await mkdtemp(join(tmpdir(), 'parley-sqlite-'))
    },
    async create({ empty, like }) {
      const file = join(folder, `${count++}.sqlite3`)
      if (!empty) await copyFile(like?.slice('sqlite:'.length) ?? inject('sqliteTemplate'), file)
      return `sqlite:${file}`
    },
    async remove(urls) {
      for (const url of urls) {
        const file = url.slice('sqlite:'.length)
        // SQLite removes the WAL when the last connection closes.
        if (existsSync(`${file}-wal`)) throw new Error(`A connection to ${file} was left open.`)
        await rm(file, { force: true })
      }
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

function postgres(): Engine {
  let dropped = Promise.resolve()
  return {
    dialect: 'postgres',
    start: async () => {},
    create: ({ empty, like }) => (empty ? copyOf('template0') : like ? copyOf(nameOf(like)) : takeSpare()),
    async remove(urls) {
      const names = urls.map(nameOf)
      const client = connectAdmin()
      await noneConnected(client, names)
      // The next test need not wait for it; the end of the suite does, and throws what it threw.
      for (const name of names) dropped = Promise.all([dropped, client.query(`DROP DATABASE ${name}`)]).then(() => {})
      dropped.catch(() => {})
    },
    stop: () => dropped,
  }
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

/** One connection for all files of a worker; it ends with the worker. */
let admin: Pool | undefined

function connectAdmin(): Pool {
  if (admin !== undefined) return admin
  admin = new Pool({ connectionString: inject('postgresUrl'), max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  // The server may go before the worker does; a query that needs it throws by itself.
  admin.on('error', () => {})
  return admin
}

/** The next database. It is made while a test runs with the one before, since a copy takes 60 ms, most of them waiting. */
let spare: Promise<string> | undefined

async function takeSpare(): Promise<string> {
  const taken = spare ?? copyOf(inject('postgresTemplate'))
  spare = copyOf(inject('postgresTemplate'))
  // The test that takes it gets the error.
  spare.catch(() => {})
  return taken
}

/** A copy of the files takes 60 ms, one through the WAL 120 ms; a schema with its migrations took 330 ms. */
async function copyOf(template: string): Promise<string> {
  // The end of the run drops what begins with the name of its template.
  const name = `${inject('postgresTemplate')}_${randomBytes(6).toString('hex')}`
  await connectAdmin().query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = name
  url.searchParams.set('application_name', name)
  return url.href
}

/** A backend outlives its connection by a moment. */
async function noneConnected(client: Pool, names: readonly string[]): Promise<void> {
  const deadline = performance.now() + 5_000
  for (;;) {
    const { rows } = await client.query(
      "SELECT pid, query FROM pg_stat_activity WHERE datname = ANY($1) AND backend_type = 'client backend'",
      [names],
    )
    if (rows.length === 0) return
    if (performance.now() > deadline) throw new Error(`Connections were left open: ${JSON.stringify(rows)}`)
    await sleep(5)
  }
}
