/** Signed tokens (JWT): verified once, and remembered by their hash until they expire. */
import type { IncomingMessage } from 'node:http'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { Clock } from '../../../base/clock.ts'
import { HubError } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { echo } from '../../../base/text.ts'
import type { Caller } from '../../../core/access/callers.ts'
import { unmadeAgent } from '../../../core/access/rules.ts'
import { BadToken, type Claims, type Roles, readClaims, strangeRoles } from './claims.ts'
import { createKeyServer } from './public-keys.ts'

interface TokenOptions {
  readonly clock: Clock
  readonly log: Log
  /** Where the public keys are; without it tokens are signed with `secret`. */
  readonly keysUrl: string | undefined
  readonly secret: string | undefined
  readonly algorithms: readonly string[]
  readonly issuer: string | undefined
  /** Whom a token that comes with this request must be for; undefined where that is not asked. */
  audience(request: IncomingMessage): string | undefined
  readonly roles: Roles
  callerOf(signed: ReturnType<typeof readClaims>): Promise<Caller>
}

export interface Tokens {
  /** Throws UNAUTHENTICATED. A promise unless the token was seen before. `hash`: of the token. */
  callerOf(token: string, hash: string, request: IncomingMessage): Caller | Promise<Caller>
  close(): void
}

/** Clocks differ by so much. */
const leewaySeconds = 60
/** More tokens than agents use at a time; past it the oldest are verified again. */
const mostKnown = 10_000

interface Known {
  readonly claims: Claims
  readonly caller: Caller
  readonly until: number
}

const form = /^[\w-]+\.[\w-]*\.[\w-]*$/

/** Whether a credential is written as a signed token. No key is, and the operator's token is compared before. */
export const isToken = (text: string): boolean => form.test(text)

/** jose is loaded here and only here: a server without tokens does without it. */
export async function createTokens(options: TokenOptions): Promise<Tokens> {
  const { clock, log, keysUrl, secret = '', algorithms, issuer, audience, roles, callerOf } = options
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
  const known = new Map<string, Known>()
  let generation = 0
  const changed = () => {
    generation++
    known.clear()
  }
  const server =
    keysUrl === undefined
      ? undefined
      : createKeyServer({ url: keysUrl, clock, log, readAs: createLocalJWKSet, changed })
  const shared = new TextEncoder().encode(secret)
  const find: JWTVerifyGetKey = server?.find ?? (async () => shared)

  async function verify(token: string): Promise<JWTPayload & { exp: number }> {
    const { payload } = await jwtVerify(token, find, {
      algorithms: [...algorithms],
      ...(issuer !== undefined && { issuer }),
      clockTolerance: leewaySeconds,
      requiredClaims: ['exp'],
      currentDate: new Date(clock.now()),
    }).catch((error: unknown) => {
      // A key that is there and unfit, such as RSA with 1,024 bits: the fault is in the token or its key, not here.
      throw error instanceof TypeError ? new BadToken('The token is signed with a key that is not taken here.') : error
    })
    return payload as JWTPayload & { exp: number }
  }

  async function learn(token: string, hash: string, request: IncomingMessage): Promise<Caller> {
    try {
      const before = generation
      const claims = await verify(token)
      const strange = strangeRoles(claims, roles).map(echo)
      if (roles.enabled && strange.length > 0) log.debug({ roles: strange }, 'a token has roles that no setting names')
      const signed = readClaims(claims, roles)
      checkAudience(claims, audience(request))
      const caller = await callerOf(signed)
      // An agent that is not there yet is looked for again.
      const whole = unmadeAgent(caller) === undefined
      // The key that it was verified with may have been withdrawn meanwhile.
      if (whole && before === generation) keep(hash, { claims, caller, until: (claims.exp + leewaySeconds) * 1000 })
      return caller
    } catch (error) {
      const reason = error instanceof BadToken ? error.message : reasons[(error as { code?: string }).code ?? '']
      if (reason === undefined && !(error instanceof errors.JOSEError)) throw error
      log.debug({ reason: reason ?? (error as Error).message }, 'a token was refused')
      throw refused(reason)
    }
  }

  function keep(hash: string, entry: Known): void {
    if (known.size >= mostKnown) for (const oldest of known.keys()) if (known.delete(oldest)) break
    known.set(hash, entry)
  }

  return {
    callerOf(token, hash, request) {
      const seen = known.get(hash)
      if (seen === undefined) return learn(token, hash, request)
      server?.keepFresh()
      if (clock.now() >= seen.until) {
        known.delete(hash)
        throw refused(reasons.ERR_JWT_EXPIRED)
      }
      try {
        checkAudience(seen.claims, audience(request))
      } catch (error) {
        throw refused((error as Error).message)
      }
      return seen.caller
    },
    close: () => server?.close(),
  }
}

function checkAudience({ aud }: Claims, wanted: string | undefined): void {
  if (wanted === undefined || (Array.isArray(aud) ? aud : [aud]).includes(wanted)) return
  throw new BadToken('The token is for another audience.')
}

const reasons: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'The token has expired.',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'A claim of the token is missing or not the one that is wanted here.',
  ERR_JOSE_ALG_NOT_ALLOWED: 'The token is signed by an algorithm that is not taken here.',
}

const refused = (reason = 'The token is not valid here.'): HubError =>
  new HubError('UNAUTHENTICATED', reason, { hint: 'Get a new token from the issuer of tokens for this server.' })
