/** Credentials that were refused: each is counted, and the first of a minute are logged, with the address and without the credential. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import { givenIn } from './credentials.ts'
import { isToken } from './sign-in/tokens.ts'

/** `limited`: too many wrong ones came from the address. */
export type RefusedKind = 'none' | 'key' | 'token' | 'limited'

/** A guesser must not fill the disk (serve.log.refused). */
const linesPerMinute = 20

interface RefusalOptions {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

export function createRefusals({ clock, log, metrics }: RefusalOptions) {
  let minute = 0
  let lines = 0
  let more = 0
  return (kind: RefusedKind, address: string | undefined): void => {
    metrics.refusedCredentials.labels(kind).inc()
    const now = Math.floor(clock.now() / 60_000)
    if (now !== minute) {
      if (more > 0) log.warn({ event: 'credentials_refused', more }, 'further credentials were refused')
      minute = now
      lines = 0
      more = 0
    }
    if (++lines > linesPerMinute) more++
    // A client that has none yet asks how to sign in.
    else log[kind === 'none' ? 'info' : 'warn']({ event: 'credentials_refused', kind, address }, 'credentials refused')
  }
}

export function refusedKind(error: unknown, headers: IncomingHttpHeaders): RefusedKind {
  if (error instanceof HubError && error.code === 'RATE_LIMITED') return 'limited'
  if (headers.authorization === undefined && headers['x-api-key'] === undefined) return 'none'
  const given = givenIn(headers)
  return typeof given === 'string' && isToken(given) ? 'token' : 'key'
}
