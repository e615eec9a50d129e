/** Followers of the feed: woken when something was committed, they read on from where they stopped. */
import { pause } from '../../base/clock.ts'
import { type InsideFollower, type Outcome, type OutsideFollower, stepInside, stepOutside } from './following.ts'
import { type Hub, onWake } from './hub.ts'
import { newHolder, pauseMs } from './turns.ts'

export type { InsideFollower, OutsideFollower } from './following.ts'

/** Until the returned function is called; that waits for the page in hand. Every process may do this. */
export const followInside = (hub: Hub, follower: InsideFollower): (() => Promise<void>) =>
  keepFollowing(hub, follower, () => stepInside(hub, follower))

export function followOutside(hub: Hub, follower: OutsideFollower, holder = newHolder(hub)): () => Promise<void> {
  return keepFollowing(hub, follower, (signal) => stepOutside(hub, follower, { holder, signal }))
}

/** From a wake-up to the look: what comes meanwhile shares a commit. */
const usualGatherMs = 100

/** What stands in the way (an open transaction, another's turn, a fault) is given longer each time. */
const firstPauseMs = 50
const longestPauseMs = 10_000

/**
 * Nodes on PostgreSQL announce only the changes that somebody waits for, and a process that dies right after its commit
 * announces nothing (feed.follower.woken).
 */
const anywayMs = 60_000

/**
 * A follower in one process; its watermark is shared by all of them.
 *
 *   idle     ── wake-up: gatherMs; none: anywayMs ──▶ looking
 *   looking  ── a page was handed over ──▶ looking
 *   looking  ── nothing left ──▶ idle
 *   looking  ── hidden, held or failed ──▶ waiting
 *   waiting  ── its pause is over; wake-ups do not shorten it ──▶ looking
 *   any      ── stopped by the returned function, after the page in hand
 *
 * A death in `looking` leaves the watermark before the page: whoever looks next begins there.
 */
function keepFollowing(
  hub: Hub,
  { name, gatherMs = usualGatherMs }: Pick<InsideFollower, 'name' | 'gatherMs'>,
  step: (signal: AbortSignal) => Promise<Outcome>,
): () => Promise<void> {
  const stop = new AbortController()
  let state: 'idle' | 'looking' | 'waiting' = 'idle'
  let woken = false
  let hindered = 0
  let cancel = () => {}
  let looking: Promise<void> | undefined

  const lookIn = (ms: number) => {
    cancel()
    if (!stop.signal.aborted)
      cancel = hub.clock.after(ms, () => {
        looking = look()
      })
  }

  async function look(): Promise<void> {
    state = 'looking'
    woken = false
    const free = await handOver()
    state = free ? 'idle' : 'waiting'
    if (free) hindered = 0
    lookIn(free ? (woken ? gatherMs : anywayMs) : Math.min(longestPauseMs, firstPauseMs * 2 ** hindered++))
  }

  /** Page after page; false if something stands in the way. */
  async function handOver(): Promise<boolean> {
    try {
      let outcome = await step(stop.signal)
      while ((outcome === 'more' || outcome === 'some') && !stop.signal.aborted) {
        hindered = 0
        // Page upon page of a few changes would cost more than their work.
        await pause(outcome === 'some' ? gatherMs : pauseMs, stop.signal)
        if (stop.signal.aborted) break
        outcome = await step(stop.signal)
      }
      return outcome === 'done'
    } catch (error) {
      if (!stop.signal.aborted)
        hub.log.warn({ err: error, follower: name }, 'changes could not be handed over; it is tried again')
      return false
    }
  }

  const wake = () => {
    if (woken) return
    woken = true
    if (state === 'idle') lookIn(gatherMs)
  }
  const unwatch = onWake(hub, '', wake, wake)
  lookIn(0)
  return async () => {
    stop.abort()
    unwatch()
    cancel()
    await looking
  }
}
