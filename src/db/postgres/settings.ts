/** The settings of a connection to PostgreSQL, and the errors when it fails. */
import { Client, type ClientConfig, types } from 'pg'
import { HubError } from '../../base/errors.ts'

/** For a new connection, and for a free one of the pool; `connect_timeout` of the URL, in seconds, is another. */
const connectTimeoutMs = 10_000

/**
 * No statement of a request takes a second. One that waits for a row, or that the server works on, is ended by the
 * server, which keeps the connection; where the server is silent, the driver gives the connection up (serve.store.silent).
 */
const lockTimeoutMs = 8_000
const statementTimeoutMs = 9_000
const queryTimeoutMs = 10_000

/** A node that vanishes in the middle of a transaction must not keep its rows locked. */
const idleInTransactionMs = 30_000

const bool = 16
const int8 = 20
const numeric = 1700

/** Numbers are numbers and truth is 0 or 1, as in SQLite. Counts, sums, ids and milliseconds fit a double. */
const parsers: ClientConfig['types'] = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') => {
    if (oid === int8 || oid === numeric) return Number
    if (oid === bool) return (text: string) => (text === 't' ? 1 : 0)
    return types.getTypeParser(oid, format)
  }) as typeof types.getTypeParser,
}

const serverLimits = {
  idle_in_transaction_session_timeout: idleInTransactionMs,
  lock_timeout: lockTimeoutMs,
  statement_timeout: statementTimeoutMs,
}

/** The same for one transaction, where a pooler hands the connection to somebody else after it. */
export const limitsOfTransaction = Object.entries(serverLimits)
  .map(([name, ms]) => `; SET LOCAL ${name} = ${ms}`)
  .join('')

/** `pooled`: a pooler takes no settings at the start of a connection. */
export function clientSettings(url: string, { pooled = false } = {}): ClientConfig {
  const settings: ClientConfig = {
    connectionString: url,
    fallback_application_name: 'parley',
    connectionTimeoutMillis: connectTimeoutOf(url),
    ...(!pooled && serverLimits),
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    types: parsers,
  }
  try {
    new Client(settings)
  } catch {
    // The error would quote the URL, and so the password.
    throw new HubError('INVALID_ARGUMENT', 'DATABASE_URL is not a URL that PostgreSQL knows.', {
      hint: 'Use postgres://<user>:<password>@<host>:<port>/<database>, with special characters %-encoded.',
    })
  }
  return settings
}

function connectTimeoutOf(url: string): number {
  const seconds = URL.canParse(url) ? Number(new URL(url).searchParams.get('connect_timeout')) : 0
  return seconds > 0 ? seconds * 1000 : connectTimeoutMs
}

/** A pooler that takes the settings of a connection and drops them would drop the limits, and mix up named statements. */
export function needLimits(url: string, statementTimeout: string): void {
  if (statementTimeout === '0' && !/[?&]statement_timeout=/.test(url)) throw throughPooler()
}

const throughPooler = (cause?: unknown): HubError =>
  new HubError(
    'INVALID_ARGUMENT',
    'DATABASE_URL leads to a pooler that does not keep the settings of a connection, such as PgBouncer.',
    {
      hint: 'Set DATABASE_POOLER=transaction, and DATABASE_LISTEN_URL to PostgreSQL itself, past the pooler; or connect to PostgreSQL itself.',
      cause,
    },
  )

/** The hint for each reason that a server gives; with any other the server was not reached. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': 'Check the user and the password in DATABASE_URL.',
  '28000': 'Check the user in DATABASE_URL, and its rights in pg_hba.conf.',
  '3D000': 'Create the database, or check its name in DATABASE_URL.',
  '42501': 'Grant the user the right to connect and to use the schema.',
}

/** Names the place, never the password. */
export function connectionError(settings: ClientConfig, error: unknown): HubError {
  const reason = error instanceof Error ? error.message || error.name : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === '08P01' && reason.includes('unsupported startup parameter')) return throughPooler(error)
  const refusal = refusals[code]
  if (refusal !== undefined) {
    return new HubError('INVALID_ARGUMENT', `PostgreSQL at ${place(settings)} refused the connection: ${reason}.`, {
      hint: refusal,
      cause: error,
    })
  }
  return new HubError('DB_BUSY', `PostgreSQL at ${place(settings)} cannot be reached: ${code || reason}.`, {
    hint: 'Check that the server runs and accepts connections there, and host and port in DATABASE_URL.',
    cause: error,
  })
}

function place(settings: ClientConfig): string {
  const { host, port, database } = new Client(settings)
  return `${host}:${port}/${database}`
}
