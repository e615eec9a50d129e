/** The waits of this process: calls, so many of one agent and so many of all, for each takes memory; and streams. */
import { HubError } from '../../base/errors.ts'
import type { Hub } from './hub.ts'
import { memory, remember } from './memory.ts'

const waits = memory(() => ({
  all: 0,
  by: new Map<string, number>(),
  /** Waits in the place of an agent: of its client, or for a run. */
  standIns: new Map<string, number>(),
  streams: new Map<string, number>(),
  /** When the last of an agent ended. */
  left: new Map<string, number>(),
  listeners: new Set<() => void>(),
  /** In the other processes of this server, which have the limits in common. */
  elsewhere: { all: 0, by: new Map<string, number>() },
  /** Told of each change of the counts of this process. */
  share: (_waiter: string | undefined) => {},
}))

/** An agent by which waits are counted, the same text as the `key` of its own caller. */
export const agentWaiter = (agentId: number): string => `${agentPrefix}${agentId}`

const agentPrefix = 'agent:'
const agentPattern = /^agent:\d+$/

/**
 * Counts a wait until the returned function is called; throws where there are too many already. One without a waiter is of a
 * task, which was let in before: it counts, and is never refused. One that stands in for an agent shares its limit; the agent itself
 * does not count as waiting then.
 */
export function beginWait(hub: Hub, waiter: string | undefined, { standsIn = false } = {}): () => void {
  const counted = waits(hub)
  const own = waiter === undefined ? 0 : hereOf(hub, waiter) + (counted.elsewhere.by.get(waiter) ?? 0)
  if (waiter !== undefined) {
    needWaitRoom(hub)
    if (own >= hub.limits.waitsPerAgent) throw tooMany(`${own} calls of this agent wait already.`, 'WAITS_PER_AGENT')
  }
  counted.all++
  const leave =
    waiter === undefined ? undefined : standsIn ? add(counted.standIns, waiter) : join(hub, counted.by, waiter)
  counted.share(waiter)
  return () => {
    counted.all--
    leave?.()
    counted.share(waiter)
  }
}

/** The waits of an agent in this process, with those that stand in for it. */
function hereOf(hub: Hub, waiter: string): number {
  const { by, standIns } = waits(hub)
  return (by.get(waiter) ?? 0) + (standIns.get(waiter) ?? 0)
}

/** How many wait in a process: all, and each of some waiters. */
export interface WaitCounts {
  readonly all: number
  readonly by: readonly (readonly [waiter: string, count: number])[]
}

/**
 * Shares the limits of waits with other processes: `tell` gets what has changed here, a moment later, and the returned function takes
 * what has changed there. In that moment a limit may be passed by the few calls that come at once.
 */
export function shareWaits(hub: Hub, tell: (counts: WaitCounts) => void): (elsewhere: WaitCounts) => void {
  const counted = waits(hub)
  const changed = new Set<string>()
  let due = false
  counted.share = (waiter) => {
    if (waiter !== undefined) changed.add(waiter)
    if (due) return
    due = true
    hub.clock.after(shareMs, () => {
      due = false
      tell({ all: counted.all, by: [...changed].map((waiter) => [waiter, hereOf(hub, waiter)]) })
      changed.clear()
    })
  }
  return ({ all, by }) => {
    counted.elsewhere.all = all
    for (const [waiter, count] of by)
      if (count > 0) counted.elsewhere.by.set(waiter, count)
      else counted.elsewhere.by.delete(waiter)
  }
}

const shareMs = 5

/** A stream by which an agent is told of its mail, until the returned function is called. Sockets have limits of their own. */
export const beginStream = (hub: Hub, agentId: number): (() => void) =>
  join(hub, waits(hub).streams, agentWaiter(agentId))

/** Others are told when the first of an agent comes, and when the last has gone. */
function join(hub: Hub, counts: Map<string, number>, waiter: string): () => void {
  const { listeners, left: ended } = waits(hub)
  const leave = add(counts, waiter)
  if (counts.get(waiter) === 1) for (const tell of listeners) tell()
  return () => {
    if (leave() > 0) return
    remember(ended, waiter, hub.clock.monotonic())
    for (const tell of listeners) tell()
  }
}

/** One more, until the returned function is called, which answers how many are left. */
function add(counts: Map<string, number>, waiter: string): () => number {
  counts.set(waiter, (counts.get(waiter) ?? 0) + 1)
  return () => {
    const left = (counts.get(waiter) ?? 1) - 1
    if (left > 0) counts.set(waiter, left)
    else counts.delete(waiter)
    return left
  }
}

/** Whether a call or stream of an agent waits in this process, or has done so since then: a send ends the waits that it answers. */
export function isWaitingHere(hub: Hub, agentId: number, since = Number.POSITIVE_INFINITY): boolean {
  const { by, streams, left } = waits(hub)
  const waiter = agentWaiter(agentId)
  return by.has(waiter) || streams.has(waiter) || (left.get(waiter) ?? -1) >= since
}

/** The agents of which a call or stream waits in this process. */
export function listWaitingHere(hub: Hub): Set<number> {
  const { by, streams } = waits(hub)
  const ids = new Set<number>()
  for (const waiters of [by, streams])
    for (const waiter of waiters.keys())
      if (agentPattern.test(waiter)) ids.add(Number(waiter.slice(agentPrefix.length)))
  return ids
}

/** Calls `fn` when an agent begins to wait here, or waits no longer. */
export function onWaits(hub: Hub, fn: () => void): () => void {
  const { listeners } = waits(hub)
  listeners.add(fn)
  return () => listeners.delete(fn)
}

/** Throws where all agents together have as many waits as this process holds. */
export function needWaitRoom(hub: Hub): void {
  const { all: here, elsewhere } = waits(hub)
  const all = here + elsewhere.all
  if (all >= hub.limits.waitsTotal) throw tooMany(`${all} calls wait on this server already.`, 'WAITS_TOTAL')
}

const tooMany = (message: string, setting: string): HubError =>
  new HubError('RATE_LIMITED', `${message} Nothing was done.`, {
    hint: `Call without a wait, or again once some of those calls have ended. ${setting} is the limit; the operator can raise it.`,
    retryAfter: 1,
  })
