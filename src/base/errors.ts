/** Errors, as two tables: the kinds that a client may act on, and the codes that clients know. */
import { limits } from './limits.ts'
import { cut } from './text.ts'

export const kinds = {
  invalid: { status: 400, rpc: -32602, retryable: false },
  unauthenticated: { status: 401, rpc: -32001, retryable: false },
  forbidden: { status: 403, rpc: -32003, retryable: false },
  not_found: { status: 404, rpc: -32602, retryable: false },
  conflict: { status: 409, rpc: -32009, retryable: false },
  gone: { status: 410, rpc: -32602, retryable: false },
  limited: { status: 429, rpc: -32029, retryable: true },
  busy: { status: 503, rpc: -32050, retryable: true },
  internal: { status: 500, rpc: -32603, retryable: false },
} as const

type Kind = keyof typeof kinds

export const codes = {
  INVALID_ARGUMENT: 'invalid',
  UNAUTHENTICATED: 'unauthenticated',
  FORBIDDEN: 'forbidden',
  NOT_FOUND: 'not_found',
  AGENT_NOT_FOUND: 'not_found',
  CONTACT_NOT_FOUND: 'not_found',
  MESSAGE_NOT_FOUND: 'not_found',
  PROJECT_NOT_FOUND: 'not_found',
  THREAD_NOT_FOUND: 'not_found',
  TOPIC_NOT_FOUND: 'not_found',
  TOPIC_CLOSED: 'conflict',
  AGENT_NOT_JOINED: 'conflict',
  AGENT_NAME_IN_USE: 'conflict',
  CONTACT_BLOCKED: 'forbidden',
  CONTACT_REQUIRED: 'forbidden',
  CONTACT_EXISTS: 'conflict',
  CONTACT_CODE_EXPIRED: 'gone',
  CONFLICT: 'conflict',
  CROSSED: 'conflict',
  LEASE_EXPIRED: 'conflict',
  MAILBOX_FULL: 'limited',
  QUOTA_EXCEEDED: 'limited',
  RATE_LIMITED: 'limited',
  MESSAGE_CLAIMED: 'conflict',
  FILE_RESERVATION_CONFLICT: 'conflict',
  BRIDGE_FAILED: 'invalid',
  BRIDGE_TIMEOUT: 'busy',
  BRIDGE_TOO_LARGE: 'invalid',
  BRIDGE_UNAVAILABLE: 'busy',
  SERVER_UNAVAILABLE: 'busy',
  DB_BUSY: 'busy',
  DB_SCHEMA_MISMATCH: 'conflict',
  SHUTTING_DOWN: 'busy',
  STORAGE_FAILED: 'internal',
  INTERNAL: 'internal',
} as const satisfies Record<string, Kind>

export type Code = keyof typeof codes

/** A finer meaning of a code, where the next step depends on it: a door words the hint with calls of its own. */
export type Reason =
  | 'asked_elsewhere'
  | 'bad_body'
  | 'bad_recipients'
  | 'bad_subject'
  | 'bad_thread'
  | 'beyond_end'
  | 'closed_topic'
  | 'code_needed'
  | 'contact_asked'
  | 'contact_first'
  | 'contact_only'
  | 'contradicted'
  | 'elsewhere'
  | 'in_topic'
  | 'keyed'
  | 'name_taken_over'
  | 'nameless'
  | 'no_agent'
  | 'no_asker'
  | 'no_broadcast'
  | 'no_files'
  | 'no_recipient'
  | 'no_repository'
  | 'no_reply_target'
  | 'no_target'
  | 'oneself'
  | 'only_reads'
  | 'read_only'
  | 'run_over'
  | 'too_heavy'

interface Details {
  readonly hint?: string
  readonly reason?: Reason | undefined
  readonly cause?: unknown
  /** Seconds after which the same call may go well. */
  readonly retryAfter?: number
}

/** The one error the hub throws on purpose. The hint names the call that would put it right: agents read it. */
export class HubError extends Error {
  readonly code: Code
  readonly hint: string | undefined
  readonly reason: Reason | undefined
  readonly retryAfter: number | undefined

  constructor(code: Code, message: string, { hint, reason, cause, retryAfter }: Details = {}) {
    // The writer of an error cuts quoted input with `echo`; this cut is for a writer who forgets (all.errors.short).
    super(cut(message, limits.errorLength), cause === undefined ? undefined : { cause })
    this.name = 'HubError'
    this.code = code
    this.hint = hint && cut(hint, limits.errorLength)
    this.reason = reason
    this.retryAfter = retryAfter
  }

  get kind(): Kind {
    return codes[this.code]
  }
}

/** Anything that is not a HubError becomes INTERNAL: logged whole where it is caught, shown without detail. */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error
  return new HubError('INTERNAL', 'Something went wrong inside Parley.', {
    hint: 'Try again; if it fails again, the server log has the cause.',
    cause: error,
  })
}

/** Whether a door logs it: a fault of the program. Trouble of the storage is logged by the hub, once. */
export const isUnexpected = ({ kind, code }: HubError): boolean => kind === 'internal' && code !== 'STORAGE_FAILED'

/** An error as clients see it, at every door. */
interface ErrorShape {
  error: { code: Code; message: string; hint?: string }
}

export function errorShape({ code, message, hint }: HubError): ErrorShape {
  return { error: hint === undefined ? { code, message } : { code, message, hint } }
}
