/** The checks before a request is handled: rate limits, and whether the caller may write. */
import type { FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import { HubError } from '../../base/errors.ts'
import type { Caller } from '../../core/access/callers.ts'
import { limitKey, needWriting, unmadeAgent } from '../../core/access/rules.ts'
import type { Counted, Limiter } from './limits/limiter.ts'

export interface Admission {
  readonly limiter?: Limiter | undefined
  /** The tools that readers may call, where the operator lists them; else those that change nothing. */
  readonly readerTools?: ReadonlySet<string> | undefined
  /** Makes the agent that a token names, where it is not there yet. `door`: by which it comes. */
  settle(caller: Caller, door: string): Promise<Caller>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its messages are admitted one by one. */
    messages?: boolean
    /** Answered to everybody. */
    open?: boolean
  }
}

function limited(ms: number): HubError {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return new HubError('RATE_LIMITED', 'You call too often.', {
    hint: `Try again in ${seconds} s.`,
    retryAfter: seconds,
  })
}

/** Spends a token of the caller's bucket, one for all doors; those without credentials share that of their address. */
export function spend(
  limiter: Limiter | undefined,
  { caller, address }: { readonly caller: Caller; readonly address: string },
  of: Counted,
): void | Promise<void> {
  const key = limiter && limitKey(caller, address)
  if (limiter === undefined || key === undefined) return
  const wait = limiter.take(key, of)
  if (wait instanceof Promise) return wait.then(check)
  check(wait)
}

function check(wait: number): void {
  if (wait > 0) throw limited(wait)
}

/**
 * Admits whole requests, at the routes that need it. Where messages are admitted one by one, the end of a session is left
 * to count here. Decided once a route: what a request is asked about its own route costs as much as a limit may.
 */
export const admitRoutes =
  (admission: Admission) =>
  (route: RouteOptions): void => {
    const { url, method, config = {} } = route
    const ends = method === 'DELETE'
    if (config.open || url.startsWith('/health/') || (config.messages && !ends)) return
    const admit: onRequestHookHandler = (request, _reply, done) => {
      const caller = admitRequest(admission, request, config.messages === true)
      const go = (who: Caller) => {
        request.caller = who
        done()
      }
      if (caller instanceof Promise) caller.then(go, done)
      else go(caller)
    }
    // Before those of the door: a route may look up the agent that is made here.
    route.onRequest = [admit, route.onRequest ?? []].flat()
  }

function admitRequest(
  { limiter, settle }: Admission,
  request: FastifyRequest,
  messages: boolean,
): Caller | Promise<Caller> {
  const { raw, method, caller, server } = request
  const enter = () => {
    if (messages || reading.has(method)) return caller
    needWriting(caller)
    return unmadeAgent(caller) === undefined ? caller : settle(caller, 'post')
  }
  const address = server.clientAddress(raw)
  const spent = isFree(request) ? undefined : spend(limiter, { caller, address }, 'requests')
  return spent instanceof Promise ? spent.then(enter) : enter()
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Pages for people, and sockets, which wait for events. */
const isFree = ({ raw, method }: FastifyRequest): boolean =>
  method === 'GET' && (/^\/mail(?:[/?]|$)/.test(raw.url ?? '') || raw.headers.upgrade !== undefined)
