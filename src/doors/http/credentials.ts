/** Says who calls, from the credentials of a request and where it came from (all.credentials.local). */
import { hash as hashOf, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HubError } from '../../base/errors.ts'
import { type Caller, local, operator } from '../../core/access/callers.ts'
import { bringsToken } from './metrics-port.ts'
import { isForwarded } from './proxies.ts'
import { isToken, type Tokens } from './sign-in/tokens.ts'

export interface CredentialOptions {
  readonly bearerToken: string | undefined
  /** A further token, for /metrics alone. */
  readonly metricsToken?: string | undefined
  /** Whether a program on this machine needs no credentials. */
  readonly allowLocalUnauthenticated: boolean
  /** The agent whose key this is, if it is one; a promise where that has to be looked up. */
  callerOfKey(key: string): Caller | undefined | Promise<Caller | undefined>
  /** The refusal of the operator's token, where too many wrong keys came from the network of a request. */
  operatorHeldUp?(request: IncomingMessage): HubError | undefined
  /** Says whose a signed token is; absent where none is taken. */
  readonly tokens?: Pick<Tokens, 'callerOf'> | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    /** Whether credentials are not needed here: without any, everybody is taken for a caller on this machine. */
    openToAll?: boolean
  }
}

/**
 * A promise only where a key has to be looked up. `toLoopback`: the request named this server by a loopback name.
 * `openToAll` is asked last: a request's own route is dear to look at.
 */
type ReadCaller = (request: IncomingMessage, toLoopback: boolean, openToAll?: () => boolean) => Caller | Promise<Caller>

/** Throws UNAUTHENTICATED. A wrong credential is refused even where none would have been needed. */
export function createReadCaller({
  bearerToken,
  metricsToken,
  allowLocalUnauthenticated,
  callerOfKey,
  operatorHeldUp,
  tokens,
}: CredentialOptions): ReadCaller {
  const expected = bearerToken === undefined || bearerToken === '' ? undefined : Buffer.from(digest(bearerToken))
  return (request, toLoopback, openToAll = () => false) => {
    const { headers, rawHeaders, socket } = request
    const { authorization, 'x-api-key': apiKey } = headers
    if (authorization === undefined && apiKey === undefined) {
      if (allowLocalUnauthenticated && toLoopback && isLoopback(socket.remoteAddress) && !isForwarded(rawHeaders))
        return local
      if (openToAll()) return local
      throw new HubError('UNAUTHENTICATED', 'Credentials are needed.', {
        hint: 'Send "Authorization: Bearer" with the operator\'s token or the key of an agent.',
      })
    }
    const given = givenIn(headers)
    const both = authorization !== undefined && apiKey !== undefined
    if (typeof given !== 'string' || both) throw notValid()
    if (expected !== undefined && timingSafeEqual(Buffer.from(digest(given)), expected)) {
      const refusal = operatorHeldUp?.(request)
      if (refusal !== undefined) throw refusal
      return operator
    }
    if (metricsToken !== undefined && isScrape(request) && bringsToken(headers, metricsToken)) return operator
    if (tokens !== undefined && authorization !== undefined && isToken(given))
      return tokens.callerOf(given, digest(given), request)
    // A key that was good a moment ago is let in at once: going on in a later turn made such calls dearer than those of tokens.
    const caller = callerOfKey(given)
    if (caller === undefined) return Promise.reject(notValid())
    return caller instanceof Promise ? caller.then((found) => found ?? Promise.reject(notValid())) : caller
  }
}

/** The token of the metrics opens them, and nothing else (serve.metrics.token). */
const isScrape = ({ method, url = '' }: IncomingMessage): boolean => method === 'GET' && /^\/metrics(\?|$)/.test(url)

/** The key or token that a request brings. */
export const givenIn = ({ authorization, 'x-api-key': apiKey }: IncomingMessage['headers']) =>
  authorization === undefined ? apiKey : /^bearer +(\S+) *$/i.exec(authorization)?.[1]

const notValid = (): HubError =>
  new HubError('UNAUTHENTICATED', 'The credentials are not valid here.', {
    hint: 'Send "Authorization: Bearer" with the key of an agent (`parley invite`), or with the token of the operator (`parley token show`).',
  })

/** Hashing first makes the lengths equal, which the comparison needs, and hides the length of the secret. */
const digest = (text: string): string => hashOf('sha256', text, 'base64')

const isLoopback = (peer: string | undefined): boolean =>
  peer !== undefined && (peer === '::1' || /^(::ffff:)?127\./.test(peer))
