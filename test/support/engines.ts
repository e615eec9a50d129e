/** The same tests on both engines, each test with databases of its own. */
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, inject } from 'vitest'
import { openDb } from '../../src/db/open.ts'
import type { Db, Dialect } from '../../src/db/port.ts'
import { connectTo, copyOf, giveBack, takeDatabase, urlOf } from './postgres-databases.ts'

/** A database that goes away with the test. */
export interface TestDatabase {
  readonly dialect: Dialect
  readonly url: string
  /** Another connection, as another process would have. The test may close it; otherwise the end of the test does. */
  connect(): Promise<Db>
}

/** A database with Parley's tables that is like new. */
export type OpenDatabase = (options?: {
  /** Without tables. */
  empty?: boolean
  /** No test has had it, and its connections are its own: plans depend on the files, and some commands on who is connected. */
  fresh?: boolean
  /** With all that is in this one, to which nobody is connected. */
  like?: TestDatabase
  /** It goes away with the last test of the engine: for a `beforeAll`, and for others to be like it. */
  lasting?: boolean
}) => Promise<TestDatabase>

/** Where databases come from. */
export interface Engine {
  readonly dialect: Dialect
  start(): Promise<void>
  create(options: { empty: boolean; fresh?: boolean; like?: string }): Promise<string>
  connect(url: string): Promise<Db>
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
      tests(async ({ empty = false, fresh = false, like, lasting = false } = {}) => {
        const url = await engine.create({ empty, fresh, ...(like && { like: like.url }) })
        ;(lasting ? lastingUrls : urls).push(url)
        const connect = async () => {
          const db = await engine.connect(url)
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
    connect: openDb,
    async remove(urls) {
      for (const url of urls) {
        const file = url.slice('sqlite:'.length)
        // SQLite removes the WAL when the last connection closes. Of two processes that close at the same moment neither is the last.
        if (existsSync(`${file}-wal`)) openAndClose(file)
        if (existsSync(`${file}-wal`)) throw new Error(`A connection to ${file} was left open.`)
        await rm(file, { force: true })
      }
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

function openAndClose(file: string): void {
  const db = new DatabaseSync(file)
  db.exec('SELECT 1 FROM sqlite_schema')
  db.close()
}

function postgres(): Engine {
  return {
    dialect: 'postgres',
    start: async () => {},
    async create({ empty, fresh, like }) {
      const template = empty ? 'template0' : like ? nameOf(like) : inject('postgresTemplate')
      return urlOf(await (empty || fresh || like ? copyOf(template) : takeDatabase()))
    },
    connect: (url) => connectTo(nameOf(url)),
    remove: (urls) => giveBack(urls.map(nameOf)),
    stop: async () => {},
  }
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1)
