/** Errors of the post door: `{detail, code}`, with the status of their kind. */
import { asHubError, type Code, HubError, isUnexpected } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { statusOf } from '../http/refusal.ts'

/** The calls of this door for the errors of core, which serves other doors too. */
const hints: Partial<Record<Code, string>> = {
  CONTACT_REQUIRED: 'Ask for a connection with POST /connections/request, and send again once it is approved.',
  AGENT_NAME_IN_USE: 'Choose another name. The operator gives an agent that exists a key with `parley keys create`.',
}

export interface Failure {
  readonly status: number
  readonly body: { readonly detail: string; readonly code: Code }
  /** Seconds. */
  readonly retryAfter: number | undefined
}

export const statusOfCode = (error: HubError): number => (error.kind === 'invalid' ? 422 : statusOf(error))

export function toFailure(thrown: unknown, log: Log): Failure {
  const own = fromFastify(thrown)
  const error = own?.error ?? asHubError(thrown)
  if (isUnexpected(error)) log.error({ err: thrown }, 'a request failed')
  const { code, message } = error
  const hint = hints[code] ?? error.hint
  return {
    status: own?.status ?? (error === thrown && 'status' in error ? statusOf(error) : statusOfCode(error)),
    body: { detail: hint === undefined ? message : `${message} ${hint}`, code },
    retryAfter: error.retryAfter,
  }
}

/** Fastify's own refusals: a body too large, a wrong content type, bad JSON. */
function fromFastify(thrown: unknown): { status: number; error: HubError } | undefined {
  if (thrown instanceof HubError || !(thrown instanceof Error) || !('statusCode' in thrown)) return undefined
  const { statusCode: status, message } = thrown
  if (typeof status !== 'number' || status >= 500) return undefined
  return { status, error: new HubError('INVALID_ARGUMENT', message) }
}
