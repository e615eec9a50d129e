/** Logins: cookies and codes signed with the secret of the hub, and the proof that a form is one of ours. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Caller, namedOperator, operator } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { decodeName, encodeName, type LoginCode, readCode } from '../http/login-codes.ts'

export const sessionCookie = 'parley_session'
export const visitorCookie = 'parley_visitor'

/** A login lasts this long. */
const sessionMs = 30 * 86_400_000

/** Sessions and codes that are over: every process refuses them. */
export interface Ended {
  has(nonce: string): Promise<boolean>
  add(caller: Caller, nonce: string, until: number): Promise<void>
}

export interface Sessions {
  readonly ended: Ended
  /** The value of a new session cookie, of a person with a name if it has one, and the seconds that it lasts. */
  issue(name?: string): { readonly value: string; readonly maxAge: number }
  /** The operator, if the cookie is a good one. */
  callerOf(value: string | undefined): Promise<Caller | undefined>
  /** Which session it is, and until when; undefined if it is not a good one. */
  read(value: string | undefined): { readonly nonce: string; readonly until: number } | undefined
  isToken(given: string): boolean
  /** A code of `parley login` that is not too old; whether it was used before, the hub knows. */
  readCode(given: string): LoginCode | undefined
  /** A name for a visitor who has none yet. */
  visitor(): string
  csrf(visitor: string, session: string | undefined): string
  isCsrf(given: unknown, visitor: string | undefined, session: string | undefined): boolean
}

interface SessionOptions {
  readonly secret: string
  readonly token: string | undefined
  readonly ended: Ended
}

/** The token is part of the key: a cookie is void when the token changes (web.login.void). */
export function createSessions(hub: Hub, { secret, token, ended }: SessionOptions): Sessions {
  const sign = (use: string, text: string): string =>
    createHmac('sha256', secret).update(`web-${use}.`).update(text).digest('base64url')
  const bound = digest(token ?? '').toString('base64url')
  const signSession = (parts: readonly string[]): string => sign('session', [...parts, bound].join('.'))
  const csrf: Sessions['csrf'] = (visitor, session = '') => sign('form', `${visitor}.${session}`)

  function read(value: string | undefined) {
    const parts = value?.split('.') ?? []
    const mark = parts.pop() ?? ''
    const [nonce = '', until = '', name] = parts
    if (parts.length > 3 || !same(mark, signSession(parts)) || Number(until) <= hub.clock.now()) return undefined
    return { nonce, until: Number(until), name: decodeName(name) }
  }

  return {
    ended,
    issue(name) {
      const parts = [hub.ids.token(), String(hub.clock.now() + sessionMs), ...(name ? [encodeName(name)] : [])]
      return { value: [...parts, signSession(parts)].join('.'), maxAge: sessionMs / 1000 }
    },
    read,
    async callerOf(value) {
      const session = read(value)
      if (session === undefined || (await ended.has(session.nonce))) return undefined
      return session.name === undefined ? operator : namedOperator(session.name)
    },
    isToken: (given) => token !== undefined && timingSafeEqual(digest(given), digest(token)),
    readCode: (given) => readCode(secret, given, hub.clock.now()),
    visitor: () => hub.ids.token(),
    csrf,
    isCsrf: (given, visitor, session) =>
      typeof given === 'string' && visitor !== undefined && same(given, csrf(visitor, session)),
  }
}

/** Hashing first makes the lengths equal, which the comparison needs. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
