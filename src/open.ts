/** Settings → database → hub: what every way of running Parley begins with. */
import { join } from 'node:path'
import { systemClock } from './base/clock.ts'
import { HubError } from './base/errors.ts'
import { createIds } from './base/ids.ts'
import { createLog, type Log } from './base/log.ts'
import { createMetrics } from './base/metrics.ts'
import type { Config } from './config.ts'
import { type Hub, openHub } from './core/hub.ts'
import { migrate } from './db/migrate.ts'
import { migrations } from './db/migrations/all.ts'
import { openDb } from './db/open.ts'
import type { Db } from './db/port.ts'
import { parseDatabaseUrl } from './db/url.ts'

/** On stderr, because stdout may carry a protocol; for people on a terminal, for machines elsewhere. */
export const openLog = ({ LOG_LEVEL, LOG_JSON_ENABLED }: Config): Log =>
  createLog({ level: LOG_LEVEL, json: LOG_JSON_ENABLED || !process.stderr.isTTY, to: process.stderr })

const databaseUrl = ({ DATABASE_URL, STORAGE_ROOT }: Config): string =>
  DATABASE_URL ?? `sqlite:${join(STORAGE_ROOT, 'parley.sqlite3')}`

/** Where the data is, as a person may read it: a URL of PostgreSQL has a password in it. */
export function storageName(config: Config): string {
  const place = parseDatabaseUrl(databaseUrl(config))
  return place.dialect === 'sqlite' ? place.file : 'PostgreSQL'
}

/** The database with today's tables; a newer one, or somebody else's, is refused and not touched. */
export async function openDatabase(config: Config): Promise<Db> {
  const db = await openDb(databaseUrl(config))
  try {
    await migrate(db, migrations, systemClock)
    return db
  } catch (error) {
    await db.close()
    throw nameDatabase(error, config)
  }
}

/** A migration knows what is wrong with a database, but not where it is. */
function nameDatabase(error: unknown, config: Config): unknown {
  if (!(error instanceof HubError) || error.code !== 'DB_SCHEMA_MISMATCH') return error
  const { code, message, hint, cause } = error
  return new HubError(code, `${storageName(config)}: ${message}`, { ...(hint !== undefined && { hint }), cause })
}

export async function openOn(db: Db, config: Config, log: Log): Promise<Hub> {
  const clock = systemClock
  const limits = { mailboxDepth: config.MAILBOX_MAX_DEPTH, waitMs: Math.round(config.MAX_WAIT_SECONDS * 1000) }
  try {
    return await openHub({ db, clock, ids: createIds(clock), log, metrics: createMetrics(), limits })
  } catch (error) {
    await db.close()
    throw error
  }
}

/** For a command that needs the hub for a moment. */
export const openParley = async (config: Config): Promise<Hub> =>
  openOn(await openDatabase(config), config, openLog(config))
