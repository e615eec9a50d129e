/** MCP sessions: those that were ended and what the others follow, in the store, where every process finds it. */
import { deleteHolder } from '../../store/agents/holders.ts'
import {
  deleteEndedSessions,
  deleteSubscription,
  deleteSubscriptions,
  findEndedSession,
  insertEndedSession,
  insertSubscription,
  listSubscriptions,
  type SubscriptionRow,
} from '../../store/agents/sessions.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, onWake, reader } from '../hub/hub.ts'
import type { Caller } from './callers.ts'
import { sessionHolder } from './holders.ts'

const prefix = 'session:'

export const isSessionEnded = (hub: Hub, nonce: string): Promise<boolean> => findEndedSession(reader(hub), nonce)

export async function endSession(hub: Hub, caller: Caller, nonce: string, expiresAt: number): Promise<void> {
  // A reader too may end what it began.
  await commit(hub, { key: caller.key }, async (tx, note) => {
    await deleteEndedSessions(tx, hub.clock.now())
    await insertEndedSession(tx, nonce, expiresAt)
    await deleteHolder(tx, sessionHolder(nonce))
    await deleteSubscriptions(tx, nonce, hub.clock.now())
    note({ kind: 'session.ended', wakes: [prefix + nonce] })
  })
}

/** Calls `fn` with the nonce of each session that is ended, by this process or another; with none if some may have been missed. */
export const onSessionEnded = (hub: Hub, fn: (nonce: string | undefined) => void): (() => void) =>
  onWake(
    hub,
    prefix,
    (channel) => fn(channel.slice(prefix.length)),
    () => fn(undefined),
  )

const watchPrefix = 'watch:'

/** The resources that a session follows, in the order in which it began. */
export const listFollowed = (hub: Hub, nonce: string): Promise<SubscriptionRow[]> =>
  listSubscriptions(reader(hub), nonce)

/** Follows a resource for as long as the session lives; a second time changes nothing. */
export async function addFollowed(
  hub: Hub,
  caller: Caller,
  { nonce, expiresAt, ...followed }: SubscriptionRow & { nonce: string; expiresAt: number },
): Promise<void> {
  await commit(hub, caller, async (tx, note) => {
    await insertSubscription(tx, { session: nonce, ...followed, now: hub.clock.now(), expiresAt })
    note({ kind: 'session.followed', wakes: [watchPrefix + nonce] })
  })
}

export async function removeFollowed(hub: Hub, caller: Caller, nonce: string, uri: string): Promise<void> {
  await commit(hub, caller, async (tx, note) => {
    await deleteSubscription(tx, nonce, uri)
    note({ kind: 'session.followed', wakes: [watchPrefix + nonce] })
  })
}

/** Calls `fn` with the nonce of each session that follows something else from now on; with none if some may have been missed. */
export const onFollowed = (hub: Hub, fn: (nonce: string | undefined) => void): (() => void) =>
  onWake(
    hub,
    watchPrefix,
    (channel) => fn(channel.slice(watchPrefix.length)),
    () => fn(undefined),
  )
