/** Settings → database → hub: the beginning of every way to run Parley. */
import { mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { viewArchive } from '../archive/view.ts'
import { homeFolder } from '../attachments/forbidden-files.ts'
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { createLog, type Log, type LogOutput } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import { type Hub, onClose, openHub, type Rules } from '../core/hub/hub.ts'
import { storeId } from '../core/hub/public-ids.ts'
import { rankBy } from '../core/messages/groups.ts'
import { freeFirst } from '../core/presence/free-first.ts'
import { migrate, missingFrom, refuse, schemaState } from '../db/migrate.ts'
import { migrations } from '../db/migrations/all.ts'
import { openDb } from '../db/open.ts'
import type { Db, Reader } from '../db/port.ts'
import { lookInto } from '../db/sqlite/inspect.ts'
import { echoing } from '../db/statement-log.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Llm } from '../llm/llm.ts'
import type { RemoteTools } from '../remote-tools/remote-tools.ts'
import type { Config } from '../settings/all.ts'
import { lastChange } from '../store/feed/changes.ts'
import { archiveFolder } from './archive-place.ts'
import { databaseName, databaseUrl, databaseWays, storageName } from './database-place.ts'
import { llmOf } from './llm.ts'
import { type LossOptions, lossAt, refuseLoss } from './loss.ts'
import { markOf } from './other-store.ts'

/** On stderr, because stdout may carry a protocol; for people on a terminal, for machines elsewhere. */
export const openLog = (config: Config, to: LogOutput = process.stderr): Log =>
  createLog({
    level: logLevel(config),
    json: config.LOG_JSON_ENABLED || !to.isTTY,
    rich: config.LOG_RICH_ENABLED,
    to,
  })

export const logLevel = ({ LOG_INCLUDE_TRACE: all, LOG_LEVEL: level }: Config): string =>
  all && level !== 'silent' ? 'trace' : level

/** An id that tells this store from others, for commands that look into one beside a running server. */
export const storeMark = async (hub: Hub, config: Config): Promise<string> =>
  markOf(await storeId(hub), parseDatabaseUrl(databaseUrl(config)))

/** A file, or the URL of a server. */
const placeName = (config: Config): string => databaseName(config).replace(/^sqlite:/, '')

/** The database with today's tables; a newer one, somebody else's, or one that lost acknowledged changes, is refused and not touched. */
export const openDatabase = async (config: Config, options?: LossOptions): Promise<Db> =>
  (await openMigrated(config, options)).db

/** Brings the database up to date and closes it; returns its place and the applied migrations. An empty one gets its tables. */
export async function migrateDatabase(config: Config, options: LossOptions = {}) {
  if (!options.acceptLoss || lossAt(databaseUrl(config)) === undefined) needFile(config)
  const { db, applied } = await openMigrated(config, options)
  await db.close()
  return { database: placeName(config), applied }
}

/** The steps that the database lacks, as `migrate` would apply them; opens nothing for writing. `copy` is brought up to date, to see how long each takes. */
export async function planMigrations(config: Config, copy?: string) {
  const measured = copy === undefined ? undefined : await measureOn(config, copy)
  needFile(config)
  const place = parseDatabaseUrl(databaseUrl(config))
  const plan = async (db: Reader) => {
    const state = await schemaState(db, migrations)
    refuse(state)
    const missing = state === 'empty' ? migrations : await missingFrom(db, migrations)
    return missing.map(({ id, name, up, finish, besideFrom }) => ({
      id,
      name,
      beside_from: besideFrom ?? null,
      sql: up(db.dialect, systemClock.now()),
      program: finish !== undefined,
      ms: measured?.get(id) ?? null,
    }))
  }
  try {
    const steps = place.dialect === 'sqlite' ? await lookInto(place.file, plan) : await atServer(config, plan)
    return { database: placeName(config), steps }
  } catch (error) {
    throw nameDatabase(error, config)
  }
}

async function measureOn(config: Config, copy: string): Promise<ReadonlyMap<number, number>> {
  const place = ({ DATABASE_URL: url = databaseUrl(config) }) => JSON.stringify(parseDatabaseUrl(url))
  if (place({ DATABASE_URL: copy }) === place(config))
    throw new HubError('INVALID_ARGUMENT', '--on names the database itself, which a plan leaves as it is.', {
      hint: 'Name a copy of it: docs/upgrading.md says how to make one.',
    })
  const { applied } = await migrateDatabase({ ...config, DATABASE_URL: copy })
  return new Map(applied.map(({ id, ms }) => [id, ms]))
}

async function atServer<T>(config: Config, work: (db: Reader) => Promise<T>): Promise<T> {
  const db = await openDb(databaseUrl(config), databaseWays(config))
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function openMigrated(config: Config, { made = true, ...options }: LossOptions & { made?: boolean } = {}) {
  // First: what opens a file whose log was cut or lost would clear away the rest of it.
  refuseLoss(databaseUrl(config), options)
  const db = await openDb(databaseUrl(config), {
    ...databaseWays(config),
    poolSize: config.DATABASE_POOL_SIZE,
    lastChange,
  })
  try {
    if (!made && (await schemaState(db, migrations)) === 'empty') throw noStore(config)
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

/** Connections to other programs. The thread of the archive needs none, and loads none of their code. */
interface Outside {
  readonly remoteTools?: RemoteTools | undefined
  readonly llm?: Llm | undefined
}

export async function openOn(database: Db, config: Config, log: Log, { remoteTools, llm }: Outside = {}): Promise<Hub> {
  const clock = systemClock
  const limits = {
    mailboxDepth: config.MAILBOX_MAX_DEPTH,
    mailboxAttempts: config.MAILBOX_MAX_ATTEMPTS,
    waitMs: Math.round(config.MAX_WAIT_SECONDS * 1000),
    waitsPerAgent: config.WAITS_PER_AGENT,
    waitsTotal: config.WAITS_TOTAL,
    tasksPerAgent: config.TASKS_PER_AGENT,
  }
  try {
    const db = config.DATABASE_ECHO ? echoing(database, log) : database
    const rules = rulesOf(config)
    const archive = config.ARCHIVE_ENABLED ? viewArchive(archiveFolder(config)) : undefined
    const ids = createIds(clock)
    const hub = await openHub({
      db,
      clock,
      ids,
      log,
      metrics: createMetrics(),
      limits,
      rules,
      llm,
      archive,
      remoteTools,
    })
    rankBy(hub, freeFirst)
    onClose(hub, async () => llm?.close())
    onClose(hub, async () => remoteTools?.close())
    return hub
  } catch (error) {
    await remoteTools?.close()
    await database.close()
    throw error
  }
}

/** The files that hold secrets of Parley: the store, the key that signs sessions, and the settings with the operator's token. */
function ownFiles(config: Config): readonly string[] {
  const place = parseDatabaseUrl(databaseUrl(config))
  const store = place.dialect === 'sqlite' ? ['', '-wal', '-shm', '-journal'].map((end) => place.file + end) : []
  const home = homeFolder()
  const settings = [config.PARLEY_ENV_FILE, config.BRIDGE_CONFIG, home && join(home, '.parley')]
  return [config.STORAGE_ROOT, ...store, ...settings].flatMap((path) => (path ? wholePath(path) : []))
}

/** Where the working folder is gone, there is no file in it either. */
function wholePath(path: string): string[] {
  try {
    return [resolve(path)]
  } catch {
    return []
  }
}

const rulesOf = (config: Config): Rules => ({
  contacts: {
    enforced: config.CONTACT_ENFORCEMENT_ENABLED,
    autoMs: config.CONTACT_AUTO_TTL_SECONDS * 1000,
    handshake: config.MESSAGING_AUTO_HANDSHAKE_ON_BLOCK,
    retry: config.CONTACT_AUTO_RETRY_ENABLED,
    codeMs: config.CONNECTION_CODE_TTL_SECONDS * 1000,
    codesShown: config.CONNECTION_CODE_VISIBLE,
  },
  makeRecipients: config.MESSAGING_AUTO_REGISTER_RECIPIENTS,
  names: config.AGENT_NAME_ENFORCEMENT_MODE,
  worktreesApart: config.PROJECT_PER_WORKTREE,
  inboxLeases: config.FILE_RESERVATIONS_ENFORCEMENT_ENABLED,
  overdueMs: config.ACK_TTL_SECONDS * 1000,
  stuckMs: config.STUCK_AFTER_SECONDS * 1000,
  waking: {
    confirmMs: config.WAKE_CONFIRM_SECONDS * 1000,
    remindMs: config.WAKE_REMIND_SECONDS * 1000,
    loopTurns: config.LOOP_MAX_TURNS,
    loopPerHour: config.LOOP_MAX_PAIR_PER_HOUR,
  },
  broadcastMost: config.BROADCAST_MAX,
  inboxQuota: config.QUOTA_ENABLED && config.QUOTA_INBOX_LIMIT_COUNT > 0 ? config.QUOTA_INBOX_LIMIT_COUNT : undefined,
  attachments: {
    convert: config.CONVERT_IMAGES,
    inlineBytes: config.INLINE_IMAGE_MAX_BYTES,
    keepOriginals: config.KEEP_ORIGINAL_IMAGES,
    quotaBytes:
      config.QUOTA_ENABLED && config.QUOTA_ATTACHMENTS_LIMIT_BYTES > 0
        ? config.QUOTA_ATTACHMENTS_LIMIT_BYTES
        : undefined,
    closed: ownFiles(config),
    roots: config.ATTACHMENT_ROOTS,
    hidden: config.ATTACHMENT_HIDDEN,
  },
})

/** For a command that a person types: it makes no store, which a mistyped folder would leave behind (cli.store.none). */
export async function openStore(config: Config, stderr?: LogOutput, { make = false } = {}): Promise<Hub> {
  if (make) mkdirSync(config.STORAGE_ROOT, { recursive: true, mode: 0o700 })
  else needFile(config, { filled: true })
  const { db } = await openMigrated(config, { made: make })
  const log = openLog(config, stderr)
  return openOn(db, config, log, { llm: await llmOf(config, log) })
}

/** Looked for before it is opened: opening makes the file, and marks an empty one. */
function needFile(config: Config, { filled = false } = {}): void {
  const place = parseDatabaseUrl(databaseUrl(config))
  if (place.dialect === 'postgres') return
  const file = statSync(place.file, { throwIfNoEntry: false })
  if (file !== undefined && !(filled && file.size === 0)) return
  refuseLoss(databaseUrl(config))
  throw noStore(config)
}

export const noStore = (config: Config): HubError =>
  new HubError('NOT_FOUND', `There is no Parley store at ${placeName(config)}, and this command does not create one.`, {
    hint: 'Name the store with STORAGE_ROOT or DATABASE_URL, in the environment or in ~/.parley/.env; `parley serve` makes a new one.',
  })
