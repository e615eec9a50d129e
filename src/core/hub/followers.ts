/** Followers of the feed: woken when something was committed, they read on from where they stopped. */
import { type InsideFollower, type Outcome, type OutsideFollower, stepInside, stepOutside } from './following.ts'
import type { Hub } from './hub.ts'
import { keepLooking, type Next } from './keep-looking.ts'
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
const backOff = { firstMs: 50, longestMs: 10_000, wakesShorten: false }

/**
 * Nodes on PostgreSQL announce only the changes that somebody waits for, and a process that dies right after its commit
 * announces nothing (feed.follower.woken).
 */
const anywayMs = 60_000

/** A follower in one process; its watermark is shared by all. A death during a look leaves it before the page in hand: the next look begins there. */
function keepFollowing(
  hub: Hub,
  { name, gatherMs = usualGatherMs }: Pick<InsideFollower, 'name' | 'gatherMs'>,
  step: (signal: AbortSignal) => Promise<Outcome>,
): () => Promise<void> {
  const after: Record<Outcome, Next> = {
    more: { inMs: pauseMs },
    // Page upon page of a few changes would cost more than their work.
    some: { inMs: gatherMs },
    done: 'rest',
    hidden: 'blocked',
    held: 'blocked',
  }
  const { stop } = keepLooking(hub, {
    channels: '',
    gatherMs,
    firstMs: 0,
    anywayMs,
    backOff,
    failure: 'changes could not be handed over; it is tried again',
    about: { follower: name },
    look: async ({ signal }) => after[await step(signal)],
  })
  return stop
}
