/** Logging in at the pages: a code lets somebody in once, and wrong tries of an address are counted. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { deleteEndedSessions, insertEndedSession } from '../../store/agents/sessions.ts'
import type { Hub } from '../hub/hub.ts'
import type { Caller } from './callers.ts'
import { guess } from './guessing.ts'

interface Login {
  /** The address, or the network, that it comes from. */
  readonly address: string
  /** Whether the token was the right one. */
  readonly token: boolean
  /** A code that is signed and not too old; undefined where none came. */
  readonly code: { readonly nonce: string; readonly until: number } | undefined
}

/** Throws UNAUTHENTICATED, or RATE_LIMITED after too many wrong tries: then the right token does not help either (web.login.tries). */
export function logIn(hub: Hub, caller: Caller, { address, token, code }: Login): Promise<void> {
  const guessing = {
    guesser: `login:${address}`,
    most: limits.wrongLogins,
    tooMany: { message: 'There were too many wrong tries. Wait a minute.', hint: 'A code comes from `parley login`.' },
  }
  // A reader too may try.
  return guess(hub, { key: caller.key }, guessing, async (tx) => {
    if (token) return { right: undefined }
    if (code !== undefined) {
      await deleteEndedSessions(tx, hub.clock.now())
      if (await insertEndedSession(tx, code.nonce, code.until)) return { right: undefined }
    }
    return { wrong: new HubError('UNAUTHENTICATED', 'This is neither the token nor a valid login code.') }
  })
}
