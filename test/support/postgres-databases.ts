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

/** Like new, for the next test. */
const ready: string[] = []

/** Databases that are used again, while a test has them; all others are dropped after it. */
const taken = new Set<string>()

/** One with Parley's tables, and with the rows that migrations put into them. */
export async function takeDatabase(): Promise<string> {
  const name = ready.pop() ?? (await copyOf(inject('postgresTemplate')))
  taken.add(name)
  return name
}

/** A copy of the files takes 60 ms, one through the WAL 120 ms; a schema with its migrations took 330 ms. */
export async function copyOf(template: string): Promise<string> {
  // The end of the run drops what begins with the name of its template.
  const name = `${inject('postgresTemplate')}_${randomBytes(6).toString('hex')}`
  // Nobody may be connected to a template.
  await disconnect(template)
  await connectAdmin().query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  return name
}

export function urlOf(name: string, settings: Record<string, string> = {}): string {
  const url = new URL(inject('postgresUrl'))
  url.pathname = name
  for (const [setting, value] of Object.entries({ application_name: name, ...settings }))
    url.searchParams.set(setting, value)
  return url.href
}

/** Empties databases, or drops them, and throws if somebody is still connected to one. */
export async function giveBack(names: readonly string[], { graceMs = 5_000 } = {}): Promise<void> {
  await noneConnected(names, graceMs)
  for (const name of names) {
    if (taken.has(name) && (await empty(name))) ready.push(name)
    else {
      await disconnect(name)
      await connectAdmin().query(`DROP DATABASE ${name}`)
    }
    taken.delete(name)
  }
}

/** Whether it is like new then. */
async function empty(name: string): Promise<boolean> {
  const { isLikeNew, empty } = inject('postgresReset')
  const db = await connectTo(name)
  const [found] = await db.all<{ kept: number }>(raw(isLikeNew))
  if (found?.kept === 1)
    await db.tx(async (tx) => {
      for (const statement of empty) tx.enqueue(raw(statement))
    })
  await db.close()
  return found?.kept === 1
}

/** By this name the server knows connections that tests are lent; those for wake-ups go by the name that all nodes have. */
const lent = 'lent'
const node = /^parley_\d+$/

/** As it is, PostgreSQL plans a statement anew each of the first five times: that was an eighth of its processor time. */
const planOnce = '-c plan_cache_mode=force_generic_plan'

/** Connections that are lent to nobody just now, by the name of their database. */
const idle = new Map<string, Db[]>()
const idleOf = (names: readonly string[]): Db[] => names.flatMap((name) => idle.get(name) ?? [])

/** The connections of a database that is used again are too: they come back when the test closes them. */
export async function connectTo(name: string): Promise<Db> {
  if (!taken.has(name)) return openDb(urlOf(name))
  const db = idle.get(name)?.pop() ?? (await openDb(urlOf(name, { application_name: lent, options: planOnce })))
  return lendDb(db, () => idle.set(name, [...idleOf([name]), db]))
}

async function disconnect(name: string): Promise<void> {
  const dbs = idleOf([name])
  idle.delete(name)
  await Promise.all(dbs.map((db) => db.close()))
}

/** Nobody but the idle ones, of which each has one connection for wake-ups at most. A backend outlives its connection by a moment. */
async function noneConnected(names: readonly string[], graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs
  for (;;) {
    const { rows } = await connectAdmin().query<{ pid: number; name: string; state: string; query: string }>({
      name: 'connected',
      text: `SELECT pid, application_name AS name, state, query FROM pg_stat_activity
             WHERE datname = ANY($1) AND backend_type = 'client backend'`,
      values: [names],
    })
    const dbs = idleOf(names)
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
