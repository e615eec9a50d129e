/** The errors of both drivers, folded into the few kinds somebody can act on. */
import { HubError } from '../base/errors.ts'

export type FaultKind =
  | 'unique'
  | 'foreign'
  | 'constraint'
  | 'full'
  | 'readonly'
  | 'io'
  | 'corrupt'
  | 'gone'
  /** Committed, but the disk did not take it. */
  | 'unflushed'
  /** Refused, because a flush has failed before. */
  | 'halted'

/** A statement the database refused. `unique` and `foreign` are for the store to expect; the others are for the operator. */
export class Fault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, cause: Error) {
    super(cause.message, { cause })
    this.name = 'Fault'
    this.kind = kind
  }
}

export function isFault(error: unknown, kind: FaultKind): boolean {
  return error instanceof Fault && error.kind === kind
}

/** Nobody knows whether the work is saved: it must not be run again, unless it finds what it has done before. */
export class Unsure extends HubError {
  constructor(cause: unknown, message = 'The database was lost during the commit: the work may be saved or not.') {
    super('DB_BUSY', message, {
      hint: 'Check whether it is stored before you try again.',
      cause,
    })
  }
}

/** It is saved, but on one server alone. Looking whether it is there would not tell whether it stays. */
export class Unconfirmed extends Unsure {
  constructor() {
    super(undefined, 'The standby did not confirm the commit: the work is saved, but may be lost with the server.')
  }
}

/** Whether it may run again, if it finds what it has done before. */
export const isUnsure = (error: unknown): boolean => error instanceof Unsure && !(error instanceof Unconfirmed)

/** Whether the database is away or in the way for a while, and nothing was done: the same may be tried again. */
export const isPassing = (error: unknown): boolean =>
  error instanceof HubError && error.code === 'DB_BUSY' && !(error instanceof Unsure)

/** The kind of an error of the database, for metrics; undefined for any other. */
export function faultName(error: unknown): string | undefined {
  if (error instanceof Fault) return error.kind
  if (error instanceof Unsure) return 'unsure'
  return isPassing(error) ? 'busy' : undefined
}

/** By extended result code, then by its low byte (https://www.sqlite.org/rescode.html). */
const sqliteKinds: Readonly<Record<number, FaultKind>> = {
  2067: 'unique', // CONSTRAINT_UNIQUE
  1555: 'unique', // CONSTRAINT_PRIMARYKEY
  2579: 'unique', // CONSTRAINT_ROWID
  787: 'foreign', // CONSTRAINT_FOREIGNKEY
  19: 'constraint',
  13: 'full',
  8: 'readonly',
  10: 'io',
  14: 'io', // CANTOPEN
  11: 'corrupt',
  26: 'corrupt', // NOTADB
}

/** BUSY, LOCKED and PROTOCOL: another connection is in the way, and will not be for long. */
const sqliteBusy: ReadonlySet<number> = new Set([5, 6, 15])

/** By SQLSTATE, then by its class (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const postgresKinds: Readonly<Record<string, FaultKind>> = {
  '23505': 'unique',
  '23503': 'foreign',
  '23': 'constraint',
  '53100': 'full',
  '25006': 'readonly',
  '58': 'io',
  XX001: 'corrupt',
  XX002: 'corrupt',
}

/** Serialisation failure and deadlock: the same work, run again, will do. */
const postgresRaces: ReadonlySet<string> = new Set(['40001', '40P01'])

/** No connection, too many connections, server starting or going down; and the sockets' words for it. */
const postgresBusy = /^(08...|53[234]00|57P0[1-5]|25P0[34]|E[A-Z]+)$/

/** Lock not available, statement cancelled: by a time-out, as a rule. */
const postgresSlow: ReadonlySet<string> = new Set(['55P03', '57014'])

export function sqliteFault(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === undefined || !(error instanceof Error)) return error
  if (sqliteBusy.has(code & 0xff)) return busy('Another process keeps the database locked.', error)
  const kind = sqliteKinds[code] ?? sqliteKinds[code & 0xff]
  return kind === undefined ? error : new Fault(kind, error)
}

export function isSqliteBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && sqliteBusy.has(code & 0xff)
}

/** Whether it is this error of SQLite, by its extended code. */
export const isSqliteCode = (error: unknown, code: number): boolean => sqliteCode(error) === code

/** CORRUPT and NOTADB: SQLite cannot make sense of the file. */
export function isSqliteUnreadable(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && sqliteKinds[code & 0xff] === 'corrupt'
}

export function postgresFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof HubError || error instanceof Fault) return error
  const code = postgresCode(error)
  if (error.message === exhausted) return busy('All connections to the database are in use.', error)
  if (code === undefined) return lost.test(error.message) ? busy('The database cannot be reached.', error) : error
  if (postgresRaces.has(code)) return busy('Others kept changing the same rows.', error)
  if (postgresSlow.has(code)) return busy('The database took too long.', error)
  if (postgresBusy.test(code)) return busy('The database cannot be reached.', error)
  const kind = postgresKinds[code] ?? postgresKinds[code.slice(0, 2)]
  return kind === undefined ? error : new Fault(kind, error)
}

/** Whether the server itself gave the statement up, after a time: nothing of it is left. */
export const isPostgresSlow = (error: unknown): boolean => postgresSlow.has(postgresCode(error) ?? '')

export function isPostgresRace(error: unknown): boolean {
  const code = postgresCode(error)
  return code !== undefined && postgresRaces.has(code)
}

/** Another node has changed the table under a statement that this connection keeps prepared: nothing ran, a new connection will do. */
export const isPostgresStale = (error: unknown): boolean =>
  postgresCode(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'

/** The server refused to write: it follows another one, or was told to. Nothing ran; the server that takes writes will do. */
export const isPostgresReadOnly = (error: unknown): boolean => postgresCode(error) === '25006'

/** The connection is gone, or there was none to be had. */
export function isPostgresLost(error: unknown): boolean {
  const code = postgresCode(error)
  if (code !== undefined) return !(error instanceof HubError) && postgresBusy.test(code)
  return error instanceof Error && lost.test(error.message)
}

/** `pg` gives a silent server, a lost connection and a full pool no code. */
const silent = 'Query read timeout'
const exhausted = 'timeout exceeded when trying to connect'
const lost = new RegExp(`${silent}|connection terminated|connection error|not queryable`, 'i')

/** Whether the server did not even say that it takes longer: then the driver has given up the connection. */
export function isPostgresSilence(error: unknown): boolean {
  return error instanceof Error && (error.message === silent || isPostgresSilence(error.cause))
}

/** The answer of a database that is being closed. */
export function shuttingDown(): HubError {
  return new HubError('SHUTTING_DOWN', 'The database is being closed.')
}

function busy(message: string, cause: Error): HubError {
  return new HubError('DB_BUSY', message, { hint: 'Try again in a moment.', cause })
}

function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

function postgresCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
