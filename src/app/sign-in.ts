/** Settings → who is let in over HTTP: tokens, roles, limits, and the pages of other sites. */
import type { Log } from '../base/log.ts'
import { callerOfToken, settle } from '../core/agents/tokens.ts'
import type { Hub } from '../core/hub/hub.ts'
import type { Admission } from '../doors/http/admission.ts'
import { createTrust } from '../doors/http/client-address.ts'
import { createIsOurs } from '../doors/http/host-check.ts'
import { inMemory, type Limiter, type Rate, type Rates } from '../doors/http/limits/limiter.ts'
import { createOrigin } from '../doors/http/origin.ts'
import { type ResourceOptions, resourceOf } from '../doors/http/sign-in/resource.ts'
import { createTokens, type Tokens } from '../doors/http/sign-in/tokens.ts'
import type { Config } from '../settings/all.ts'
import { algorithmsFor } from '../settings/sign-in.ts'

/** A Redis that hangs holds up one call in five seconds, and for no longer. */
const redisMs = 250

/** The parts of a server that decide who may do what; `close` ends their connections. */
export async function openSignIn(hub: Hub, config: Config, counting?: (rates: Rates) => Limiter) {
  const resource = resourceFrom(config)
  const sites = sitesFrom(config)
  const { HTTP_PUBLIC_URL: publicUrl, HTTP_BASE_PATH: basePath, HTTP_TRUSTED_PROXIES: trustedProxies } = config
  const origin = createOrigin({
    publicUrl,
    basePath,
    trusts: createTrust(trustedProxies),
    isOurs: createIsOurs({ host: config.HTTP_HOST, ...sites }),
  })
  const tokens = config.HTTP_JWT_ENABLED ? await tokensFrom(hub, config, { resource, origin }) : undefined
  const limiter = config.HTTP_RATE_LIMIT_ENABLED ? await limiterFrom(hub, config, counting) : undefined
  return {
    tokens,
    resource,
    admission: tokens === undefined && limiter === undefined ? undefined : admissionFrom(hub, config, limiter),
    ...sites,
    publicUrl,
    basePath,
    trustedProxies,
    close() {
      tokens?.close()
      limiter?.close()
    },
  }
}

const resourceFrom = (config: Config): ResourceOptions => ({
  issuer: config.HTTP_JWT_ENABLED && config.HTTP_JWT_JWKS_URL !== undefined ? config.HTTP_JWT_ISSUER : undefined,
  tokens: config.HTTP_JWT_ENABLED,
})

interface Resource {
  readonly resource: ResourceOptions
  readonly origin: Parameters<typeof resourceOf>[0]
}

function tokensFrom(hub: Hub, config: Config, { resource, origin }: Resource): Promise<Tokens> {
  const { HTTP_JWT_JWKS_URL: keysUrl, HTTP_JWT_ALGORITHMS: algorithms, HTTP_JWT_AUDIENCE: audience } = config
  return createTokens({
    clock: hub.clock,
    log: hub.log,
    keysUrl,
    secret: config.HTTP_JWT_SECRET,
    algorithms: algorithms.length > 0 ? algorithms : algorithmsFor(keysUrl).usual,
    issuer: config.HTTP_JWT_ISSUER,
    audience: (request) => audience ?? (resource.issuer === undefined ? undefined : resourceOf(origin, request)),
    roles: {
      enabled: config.HTTP_RBAC_ENABLED,
      claim: config.HTTP_JWT_ROLE_CLAIM,
      readers: config.HTTP_RBAC_READER_ROLES,
      writers: config.HTTP_RBAC_WRITER_ROLES,
      auditors: config.HTTP_RBAC_AUDITOR_ROLES,
      fallback: config.HTTP_RBAC_DEFAULT_ROLE,
      scopes: resource.issuer !== undefined,
    },
    callerOf: (signed) => callerOfToken(hub, signed),
  })
}

function admissionFrom(
  hub: Hub,
  { HTTP_RBAC_READONLY_TOOLS: listed }: Config,
  limiter: Limiter | undefined,
): Admission {
  // The door that an agent comes by decides whom it takes mail from at first.
  const policies = { mail: 'auto', post: 'contacts_only' } as const
  const policyOf = (door: string) => (door === 'mail' || door === 'post' ? policies[door] : 'open')
  return {
    limiter,
    readerTools: listed.length > 0 ? new Set(listed) : undefined,
    settle: (caller, door) => settle(hub, caller, policyOf(door)),
  }
}

/** The client of Redis is loaded only where it is asked for. */
async function limiterFrom(
  { clock, log }: { clock: Hub['clock']; log: Log },
  config: Config,
  counting = (rates: Rates): Limiter => inMemory(rates, clock),
): Promise<Limiter> {
  const rate = (perMinute: number, burst = 0): Rate => ({ perMinute, burst: burst > 0 ? burst : perMinute })
  const rates = {
    requests: rate(config.HTTP_RATE_LIMIT_PER_MINUTE),
    tools: rate(config.HTTP_RATE_LIMIT_TOOLS_PER_MINUTE, config.HTTP_RATE_LIMIT_TOOLS_BURST),
    resources: rate(config.HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE, config.HTTP_RATE_LIMIT_RESOURCES_BURST),
  }
  const fallback = counting(rates)
  const { HTTP_RATE_LIMIT_BACKEND: backend, HTTP_RATE_LIMIT_REDIS_URL: url } = config
  if (backend === 'memory' || url === undefined) return fallback
  const [{ openRedis }, { inRedis }] = await Promise.all([
    import('../redis/redis.ts'),
    import('../doors/http/limits/redis.ts'),
  ])
  return inRedis(openRedis(url, { timeoutMs: redisMs }), rates, { fallback, log })
}

/** Sites whose pages may read answers may call, too. */
function sitesFrom(config: Config) {
  const shared = config.HTTP_CORS_ENABLED ? config.HTTP_CORS_ORIGINS : []
  const { HTTP_PUBLIC_URL: publicUrl } = config
  return {
    allowedHosts: [...config.HTTP_ALLOWED_HOSTS, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])],
    // Its own pages, also where a proxy does not pass `Host` on.
    allowedOrigins: [
      ...config.HTTP_ALLOWED_ORIGINS,
      ...shared.filter((origin) => origin !== '*'),
      ...(publicUrl === undefined ? [] : [new URL(publicUrl).origin]),
    ],
    everyOrigin: shared.includes('*'),
    cors: config.HTTP_CORS_ENABLED
      ? {
          origins: shared,
          credentials: config.HTTP_CORS_ALLOW_CREDENTIALS,
          methods: config.HTTP_CORS_ALLOW_METHODS,
          headers: config.HTTP_CORS_ALLOW_HEADERS,
        }
      : undefined,
  }
}
