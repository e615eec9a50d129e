/** Time to live: mail that nobody has read in time leaves its mailbox, and its sender is told once. */

import { findNextExpiry, listExpired, listExpiredOf } from '../../store/mail/endings.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keepLooking } from '../hub/keep-looking.ts'
import { expiryChannel } from '../messages/placing.ts'
import { endUnread } from './ending.ts'

const messagesPerLook = 100

/** Somebody holds a row for a moment. */
const lockedMs = 50

/** A timer of the system takes no more than 24 days. */
const longestWaitMs = 86_400_000

/**
 * Expired mail is in no answer, also before this loop was here: every query leaves it out. The loop counts it out of the mailbox and tells
 * its sender. Any process may do it, and several at once: a delivery ends once.
 */
export function keepExpiring(hub: Hub): () => Promise<void> {
  const { stop } = keepLooking(hub, {
    channels: expiryChannel,
    gatherMs: 20,
    firstMs: 0,
    backOff: { firstMs: 1000, longestMs: 60_000, wakesShorten: false },
    failure: 'expired mail was not counted out of its mailboxes; it is tried again',
    look: async ({ signal }) => {
      // One time for both questions: what becomes due between them is then the next.
      const now = hub.clock.now()
      const ids = await listExpired(reader(hub), now, messagesPerLook)
      for (const id of ids) if (!signal.aborted && !(await expire(hub, id))) return { inMs: lockedMs }
      if (ids.length === messagesPerLook) return { inMs: 1 }
      const next = await findNextExpiry(reader(hub), now)
      return next === undefined ? 'rest' : { inMs: Math.min(Math.max(1, next - hub.clock.now()), longestWaitMs) }
    },
  })
  return stop
}

const expire = (hub: Hub, messageId: number): Promise<boolean> =>
  endUnread(hub, messageId, {
    how: 'expired',
    list: (tx, now) => listExpiredOf(tx, messageId, now),
    notice: ({ message, to, seconds }) => ({
      subject: 'Expired unread',
      body: `Your ${message}${to} was not read within ${seconds} s and has expired. It stays in its thread; nobody is told of it any more.`,
    }),
  })
