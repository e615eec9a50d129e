/** Cross-origin requests: the pages of other sites that may read answers, and what their browsers ask first. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { normalOrigin } from './host-check.ts'

export interface CorsOptions {
  /** `*` is every site. */
  readonly origins: readonly string[]
  readonly credentials: boolean
  /** `*` is every method, every header. */
  readonly methods: readonly string[]
  readonly headers: readonly string[]
}

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const exposed = 'Mcp-Session-Id, WWW-Authenticate, Retry-After'
/** Seconds that a browser may remember what it was told. */
const rememberedSeconds = '600'

/** Puts the headers on the reply; true if the request only asks what would be allowed, and is answered. */
export function createCors({ origins, credentials, methods, headers }: CorsOptions) {
  const listed = new Set(origins.map(normalOrigin))
  const every = origins.includes('*')
  const allowedMethods = (methods.includes('*') ? everyMethod : methods).join(', ')

  return ({ raw }: Pick<FastifyRequest, 'raw'>, reply: FastifyReply): boolean => {
    // Caches must not give one site the answer for another, nor for none.
    reply.header('vary', 'Origin')
    const { origin } = raw.headers
    if (origin === undefined || !(every || listed.has(normalOrigin(origin)))) return false
    reply.header('access-control-allow-origin', origin)
    if (credentials) reply.header('access-control-allow-credentials', 'true')
    reply.header('access-control-expose-headers', exposed)
    if (raw.method !== 'OPTIONS' || raw.headers['access-control-request-method'] === undefined) return false
    reply
      .header('access-control-allow-methods', allowedMethods)
      .header('access-control-allow-headers', allowedHeaders(raw.headers['access-control-request-headers']))
      .header('access-control-max-age', rememberedSeconds)
      .code(204)
      .send()
    return true
  }

  /** By the rules of browsers `*` does not cover Authorization, and covers nothing where cookies go along: all are named. */
  function allowedHeaders(asked = ''): string {
    if (!headers.includes('*')) return headers.join(', ')
    const named = asked.split(',').map((name) => name.trim().toLowerCase())
    const plain = named.filter((name) => /^[!#$%&'*+.^_`|~\w-]{1,100}$/.test(name))
    return [...new Set(['*', 'authorization', ...plain])].join(', ')
  }
}
