/** Settings that are right alone and wrong together. */
import type { Config } from './all.ts'
import { algorithmsFor } from './sign-in.ts'
import { faultsOfSampler } from './tracing.ts'

/** A sentence for each fault. */
export const faultsTogether = (config: Config): string[] => [
  ...faultsOfRedis(config),
  ...(config.HTTP_JWT_ENABLED ? faultsOfTokens(config) : []),
  ...faultsOfCors(config),
  ...faultsOfTls(config),
  ...faultsOfBasePath(config),
  ...faultsOfPooler(config),
  ...(config.HTTP_OTEL_ENABLED ? faultsOfSampler(config) : []),
]

function* faultsOfRedis(config: Config): Generator<string> {
  if (config.LLM_CACHE_BACKEND === 'redis' && config.LLM_CACHE_REDIS_URL === undefined)
    yield 'LLM_CACHE_REDIS_URL must be set where LLM_CACHE_BACKEND is redis'
  if (config.HTTP_RATE_LIMIT_BACKEND === 'redis' && config.HTTP_RATE_LIMIT_REDIS_URL === undefined)
    yield 'HTTP_RATE_LIMIT_REDIS_URL must be set where HTTP_RATE_LIMIT_BACKEND is redis'
}

/** Shorter ones can be guessed (RFC 7518, 3.2). */
const secretBytes = 32

function* faultsOfTokens(config: Config): Generator<string> {
  const { HTTP_JWT_SECRET, HTTP_JWT_JWKS_URL, HTTP_JWT_ALGORITHMS } = config
  if (HTTP_JWT_SECRET === undefined && HTTP_JWT_JWKS_URL === undefined)
    yield 'HTTP_JWT_SECRET or HTTP_JWT_JWKS_URL must be set where HTTP_JWT_ENABLED is true'
  else if (HTTP_JWT_JWKS_URL === undefined && Buffer.byteLength(HTTP_JWT_SECRET ?? '') < secretBytes)
    yield `HTTP_JWT_SECRET must have at least ${secretBytes} bytes: anybody who guesses it can sign tokens`
  const { all } = algorithmsFor(HTTP_JWT_JWKS_URL)
  const wrong = HTTP_JWT_ALGORITHMS.filter((name) => !all.includes(name))
  if (wrong.length > 0)
    yield `HTTP_JWT_ALGORITHMS must be among ${all.join(', ')} ${
      HTTP_JWT_JWKS_URL === undefined ? 'without' : 'with'
    } HTTP_JWT_JWKS_URL, not ${wrong.map((name) => JSON.stringify(name)).join(', ')}`
}

function* faultsOfBasePath({ HTTP_BASE_PATH, HTTP_PUBLIC_URL, HTTP_PATH }: Config): Generator<string> {
  if (HTTP_BASE_PATH === '') return
  if (HTTP_PUBLIC_URL !== undefined && new URL(HTTP_PUBLIC_URL).pathname.replace(/\/$/, '') !== HTTP_BASE_PATH)
    yield `HTTP_PUBLIC_URL must end with HTTP_BASE_PATH (${HTTP_BASE_PATH})`
  if (HTTP_PATH === HTTP_BASE_PATH || HTTP_PATH.startsWith(`${HTTP_BASE_PATH}/`))
    yield 'HTTP_PATH stands below HTTP_BASE_PATH already: it must not begin with it'
}

function* faultsOfTls({ HTTP_TLS_CERT, HTTP_TLS_KEY, HTTP_SOCKET }: Config): Generator<string> {
  if ((HTTP_TLS_CERT === undefined) !== (HTTP_TLS_KEY === undefined))
    yield 'HTTP_TLS_CERT and HTTP_TLS_KEY must be set both, or neither'
  if (HTTP_TLS_CERT !== undefined && HTTP_SOCKET !== undefined)
    yield 'HTTP_TLS_CERT is for a port: a Unix socket (HTTP_SOCKET) is not encrypted'
}

function* faultsOfCors({ HTTP_CORS_ENABLED, HTTP_CORS_ORIGINS, HTTP_CORS_ALLOW_CREDENTIALS }: Config) {
  if (HTTP_CORS_ENABLED && HTTP_CORS_ALLOW_CREDENTIALS && HTTP_CORS_ORIGINS.includes('*'))
    yield 'HTTP_CORS_ORIGINS must list its sites where HTTP_CORS_ALLOW_CREDENTIALS is true, not *'
}

function* faultsOfPooler({ DATABASE_POOLER, DATABASE_LISTEN_URL, DATABASE_URL = '' }: Config): Generator<string> {
  const pooled = DATABASE_POOLER === 'transaction'
  if (pooled && DATABASE_LISTEN_URL === undefined)
    yield 'DATABASE_LISTEN_URL must be set where DATABASE_POOLER is transaction: a URL of PostgreSQL itself, since LISTEN needs a session'
  if (!pooled && DATABASE_LISTEN_URL !== undefined) yield 'DATABASE_LISTEN_URL is for DATABASE_POOLER=transaction only'
  if (pooled && !DATABASE_URL.startsWith('postgres'))
    yield 'DATABASE_POOLER is for PostgreSQL: DATABASE_URL must be postgres://<user>:<password>@<host>/<database>'
}
