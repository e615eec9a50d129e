/**
 * Databases on PostgreSQL for the tests of a worker, used one after the other: to empty one costs 2 ms of processor time, to copy and
 * drop one 16 ms. Their connections stay too: a new one costs 5 ms, and plans each statement anew.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { raw } from 'sql-template-tag'
import { inject } from 'vitest'
import { openDb } from '../../src/db/open.ts'
import type { Db } from '../../src/db/port.ts'
import { lendDb } from './lent-db.ts'

/** Like new, and with nobody. */
const ready: string[] = []

/** Those that others get after a test. */
const reused = new Set<string>()

/** With Parley's tables, and the rows that migrations put into them. */
export async function takeDatabase(): Promise<string> {
  const name = ready.pop() ?? (await copyOf(inject('postgresTemplate')))
  reused.add(name)
  return name
}

/** A copy of the files takes 60 ms, one through the WAL 120 ms; a schema with its migrations took 330 ms. */
export async function copyOf(template: string): Promise<string> {
  // The end of the run drops what begins with the name of its template.
  const name = `${inject('postgresTemplate')}_${randomBytes(6).toString('hex')}`
  // Nobody may be connected to what is copied.
  await disconnect(template)
  await connectAdmin().query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  return name
}

export function urlOf(name: string, application = name): string {
  const url = new URL(inject('postgresUrl'))
  url.pathname = name
  url.searchParams.set('application_name', application)
  return url.href
}

/** Empties databases, or drops them, and throws if a test is still connected to one. */
export async function giveBack(names: readonly string[]): Promise<void> {
  await noneConnected(names)
  for (const name of names) {
    if (reused.delete(name) && (await empty(name))) ready.push(name)
    else {
      await disconnect(name)
      await connectAdmin().query(`DROP DATABASE ${name}`)
    }
  }
}

/** Whether it is like new then. */
async function empty(name: string): Promise<boolean> {
  const { isLikeNew, empty } = inject('postgresReset')
  const db = await lend(name)
  const [found] = await db.all<{ kept: number }>(raw(isLikeNew))
  const kept = found?.kept === 1
  if (kept)
    await db.tx(async (tx) => {
      for (const statement of empty) tx.enqueue(raw(statement))
    })
  await db.close()
  return kept
}

/** By this name the server knows connections that tests are lent; those for wake-ups go by the name that all nodes have. */
const lent = 'lent'
const node = /^parley_\d+$/

/** What was lent and has come back, by the name of the database. */
const back = new Map<string, Db[]>()
const backOf = (names: readonly string[]): Db[] => names.flatMap((name) => back.get(name) ?? [])

/** A database whose connections go to the next test when this one closes it. */
export async function lend(name: string): Promise<Db> {
  const db = back.get(name)?.pop() ?? (await openDb(urlOf(name, lent)))
  return lendDb(db, () => back.set(name, [...backOf([name]), db]))
}

async function disconnect(name: string): Promise<void> {
  const dbs = backOf([name])
  back.delete(name)
  await Promise.all(dbs.map((db) => db.close()))
}

/** Nobody but what has come back, of which each has a connection for wake-ups at most. A backend outlives its connection by a moment. */
async function noneConnected(names: readonly string[]): Promise<void> {
  const deadline = performance.now() + 5_000
  for (;;) {
    const { rows } = await connectAdmin().query<{ pid: number; name: string; state: string; query: string }>({
      name: 'connected',
      text: `SELECT pid, application_name AS name, state, query FROM pg_stat_activity
             WHERE datname = ANY($1) AND backend_type = 'client backend'`,
      values: [names],
    })
    const dbs = backOf(names)
    const busy = dbs.map((db) => db.figures?.()).some((figures) => figures?.connections !== figures?.connectionsIdle)
    const others = rows.filter(({ name, state }) => name !== lent || state !== 'idle')
    const nodes = others.filter(({ name }) => node.test(name))
    if (!busy && others.length === nodes.length && nodes.length <= dbs.length) return
    if (performance.now() > deadline) throw new Error(`Connections were left open: ${JSON.stringify(rows)}`)
    await sleep(5)
  }
}

/** One connection for all files of a worker; it ends with the worker. */
let admin: Pool | undefined

function connectAdmin(): Pool {
  if (admin !== undefined) return admin
  admin = new Pool({ connectionString: inject('postgresUrl'), max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  // The server may go before the worker does; a query that needs it throws by itself.
  admin.on('error', () => {})
  return admin
}
