/** The account of each request: a counter by route and status, and a line of the log without a secret (serve.log.secrets). */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Log } from '../../base/log.ts'
import type { Metrics, Outcome } from '../../base/metrics.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The tool that it called last, where it called one. */
    called: { readonly door: string; readonly tool: string; readonly outcome: Outcome } | undefined
  }
}

interface AccountOptions {
  readonly log: Log
  readonly metrics: Metrics
  /** Whether requests are logged at level info; else they are at level debug. */
  readonly requestsShown?: boolean
}

/** The returned function is for requests that no route takes. */
export function accountRequests(app: FastifyInstance, { log, metrics, requestsShown = false }: AccountOptions) {
  const level = requestsShown ? 'info' : 'debug'
  const write = (request: FastifyRequest, reply: FastifyReply) => {
    if (!log.isLevelEnabled(level)) return
    const { id: reqId, method, called, span } = request
    const path = loggedPath(pathOf(request))
    const ms = Math.round(reply.elapsedTime)
    const line = () => log[level]({ reqId, method, path, status: reply.raw.statusCode, ms, ...called }, 'request')
    if (span === undefined) line()
    else span.within(line)
  }
  /** Bound once a route: a request that is asked for its own route costs 1 µs. */
  const countOf = (method: string, route: string) => {
    const statuses = new Map<number, { inc(): void }>()
    return (status: number) => {
      const known = statuses.get(status) ?? metrics.requests.labels(method, route, String(status))
      if (!statuses.has(status)) statuses.set(status, known)
      known.inc()
    }
  }
  app.decorateRequest('called', undefined)
  app.addHook('onRoute', (route: RouteOptions) => {
    const counts = new Map([route.method].flat().map((method) => [method, countOf(method, route.url)]))
    const account = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      counts.get(request.method)?.(reply.raw.statusCode)
      write(request, reply)
      done()
    }
    route.onResponse = [account, route.onResponse ?? []].flat()
  })
  const unknown = countOf('', '(none)')
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.raw.once('close', () => {
      unknown(reply.raw.statusCode)
      write(request, reply)
    })
  }
}

/** A query may hold a secret; a log may not. */
export const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''

/** A client may also write its secret as a part of the path, by mistake: a key, a token, a query that it has encoded. */
const loggedPath = (path: string): string =>
  path
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .split(/[;#]|%3f|%3b|%23/i, 1)
    .join('')
    // The code of an invitation (access.invite.hash).
    .replace(/\bjoin(?:\/|%2f).*/i, 'join/[secret]')
    .replace(/[A-Za-z0-9_+.=-]{40,}/g, '[secret]')
    .slice(0, 200)
