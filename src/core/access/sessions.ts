/** MCP sessions that were ended: remembered in the store, so that every process refuses their tokens. */
import { deleteHolder } from '../../store/holders.ts'
import { deleteEndedSessions, findEndedSession, insertEndedSession } from '../../store/sessions.ts'
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
