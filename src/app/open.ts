/** Settings → database → hub: the beginning of every way to run Parley. */
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { createLog, type Log, type LogOutput } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import { type Hub, openHub, type Rules } from '../core/hub/hub.ts'
import { migrate } from '../db/migrate.ts'
import { migrations } from '../db/migrations/all.ts'
import { openDb } from '../db/open.ts'
import type { Db } from '../db/port.ts'
import { parseDatabaseUrl, shownUrl } from '../db/url.ts'
import { createLlm, type Llm } from '../llm/llm.ts'
import type { Config } from '../settings/all.ts'

/** On stderr, because stdout may carry a protocol; for people on a terminal, for machines elsewhere. */
export const openLog = ({ LOG_LEVEL, LOG_JSON_ENABLED }: Config, to: LogOutput = process.stderr): Log =>
  createLog({ level: LOG_LEVEL, json: LOG_JSON_ENABLED || !to.isTTY, to })

const databaseUrl = ({ DATABASE_URL, STORAGE_ROOT }: Config): string =>
  DATABASE_URL ?? `sqlite:${join(STORAGE_ROOT, 'parley.sqlite3')}`

/** Where the data is, as a person may read it: a URL of PostgreSQL has a password in it. */
export function storageName(config: Config): string {
  const place = parseDatabaseUrl(databaseUrl(config))
  return place.dialect === 'sqlite' ? place.file : 'PostgreSQL'
}

/** The same as a URL without user, password and parameters, for clients. */
export const databaseName = (config: Config): string => shownUrl(databaseUrl(config))

/** The database with today's tables; a newer one, or somebody else's, is refused and not touched. */
export const openDatabase = async (config: Config): Promise<Db> => (await openMigrated(config)).db

/** Brings the database up to date and closes it; returns its place and the applied migrations. */
export async function migrateDatabase(config: Config) {
  const { db, applied } = await openMigrated(config)
  await db.close()
  const database = db.dialect === 'sqlite' ? storageName(config) : databaseName(config)
  return { database, applied: applied.map(({ id, name }) => ({ id, name })) }
}

async function openMigrated(config: Config) {
  const db = await openDb(databaseUrl(config))
  try {
    return { db, applied: await migrate(db, migrations, systemClock) }
  } catch (error) {
    await db.close()
    throw nameDatabase(error, config)
  }
}

/** A migration knows the fault of a database, but not its place. */
function nameDatabase(error: unknown, config: Config): unknown {
  if (!(error instanceof HubError) || error.code !== 'DB_SCHEMA_MISMATCH') return error
  const { code, message, hint, cause } = error
  return new HubError(code, `${storageName(config)}: ${message}`, { ...(hint !== undefined && { hint }), cause })
}

export async function openOn(db: Db, config: Config, log: Log): Promise<Hub> {
  const clock = systemClock
  const limits = { mailboxDepth: config.MAILBOX_MAX_DEPTH, waitMs: Math.round(config.MAX_WAIT_SECONDS * 1000) }
  try {
    const rules = rulesOf(config)
    const llm = llmOf(config, log)
    return await openHub({ db, clock, ids: createIds(clock), log, metrics: createMetrics(), limits, rules, llm })
  } catch (error) {
    await db.close()
    throw error
  }
}

/** None without an endpoint: summaries are then drawn from the messages alone. */
const llmOf = (config: Config, log: Log): Llm | undefined =>
  config.LLM_ENABLED && config.LLM_BASE_URL !== undefined
    ? createLlm(
        {
          baseUrl: config.LLM_BASE_URL,
          apiKey: config.LLM_API_KEY,
          model: config.LLM_DEFAULT_MODEL,
          temperature: config.LLM_TEMPERATURE,
          maxTokens: config.LLM_MAX_TOKENS,
          cache: config.LLM_CACHE_ENABLED,
          logCost: config.LLM_COST_LOGGING_ENABLED,
        },
        { log, clock: systemClock },
      )
    : undefined

const rulesOf = (config: Config): Rules => ({
  contacts: {
    enforced: config.CONTACT_ENFORCEMENT_ENABLED,
    autoMs: config.CONTACT_AUTO_TTL_SECONDS * 1000,
    handshake: config.MESSAGING_AUTO_HANDSHAKE_ON_BLOCK,
    retry: config.CONTACT_AUTO_RETRY_ENABLED,
  },
  makeRecipients: config.MESSAGING_AUTO_REGISTER_RECIPIENTS,
  names: config.AGENT_NAME_ENFORCEMENT_MODE,
  overdueMs: config.ACK_TTL_SECONDS * 1000,
  inboxQuota: config.QUOTA_ENABLED && config.QUOTA_INBOX_LIMIT_COUNT > 0 ? config.QUOTA_INBOX_LIMIT_COUNT : undefined,
})

/** For a command that needs the hub for a moment. */
export const openParley = async (config: Config, stderr?: LogOutput): Promise<Hub> =>
  openOn(await openDatabase(config), config, openLog(config, stderr))
