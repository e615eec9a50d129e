/** The waits that go on in this process: so many of one agent, and so many of all, for each of them takes memory. */
import { HubError } from '../../base/errors.ts'
import type { Hub } from './hub.ts'
import { memory } from './memory.ts'

const waits = memory(() => ({ all: 0, by: new Map<string, number>() }))

/** An agent by which waits are counted, the same text as the `key` of its own caller. */
export const agentWaiter = (agentId: number): string => `agent:${agentId}`

/**
 * Counts a wait until the returned function is called; throws where there are too many already. One without a waiter is of a
 * task, which was let in before: it counts, and is never refused.
 */
export function beginWait(hub: Hub, waiter: string | undefined): () => void {
  const counted = waits(hub)
  const own = waiter === undefined ? 0 : (counted.by.get(waiter) ?? 0)
  if (waiter !== undefined) {
    needWaitRoom(hub)
    if (own >= hub.limits.waitsPerAgent) throw tooMany(`${own} calls of this agent wait already.`, 'WAITS_PER_AGENT')
    counted.by.set(waiter, own + 1)
  }
  counted.all++
  return () => {
    counted.all--
    if (waiter === undefined) return
    const left = (counted.by.get(waiter) ?? 1) - 1
    if (left > 0) counted.by.set(waiter, left)
    else counted.by.delete(waiter)
  }
}

/** Throws where all agents together have as many waits as this process holds. */
export function needWaitRoom(hub: Hub): void {
  const { all } = waits(hub)
  if (all >= hub.limits.waitsTotal) throw tooMany(`${all} calls wait on this server already.`, 'WAITS_TOTAL')
}

const tooMany = (message: string, setting: string): HubError =>
  new HubError('RATE_LIMITED', `${message} Nothing was done.`, {
    hint: `Call without a wait, or again once some of those calls have ended. ${setting} is the limit; the operator can raise it.`,
    retryAfter: 1,
  })
