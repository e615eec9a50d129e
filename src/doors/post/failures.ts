/** Errors of the post door: `{detail, code}`, with the status of their kind. */
import { asHubError, type Code, type HubError, isUnexpected } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { fromFastify, HttpRefusal, statusOf } from '../http/refusal.ts'

/** The calls of this door for the errors of core, which serves other doors too. */
const hints: Partial<Record<Code, string>> = {
  CONTACT_REQUIRED: 'Ask for a connection with POST /connections/request, and send again once it is approved.',
  AGENT_NAME_IN_USE: 'Choose another name. The operator gives an agent that exists a key with `parley keys create`.',
}

interface Failure {
  readonly status: number
  readonly body: { readonly detail: string; readonly code: Code }
  /** Seconds. */
  readonly retryAfter: number | undefined
}

export function toFailure(thrown: unknown, log: Log): Failure {
  const error: HubError = fromFastify(thrown) ?? asHubError(thrown)
  if (isUnexpected(error)) log.error({ err: thrown }, 'a request failed')
  const { code, message } = error
  const hint = hints[code] ?? error.hint
  return {
    status: error.kind === 'invalid' && !(error instanceof HttpRefusal) ? 422 : statusOf(error),
    body: { detail: hint === undefined ? message : `${message} ${hint}`, code },
    retryAfter: error.retryAfter,
  }
}
