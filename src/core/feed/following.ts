/** The base of all followers of the feed: the loop that wakes them, and the look at the changes that are new to one. */
import type { Reader } from '../../db/port.ts'
import { findEnd, hasChangesAfter, listChangesAfter, type Recorded } from '../../store/feed/changes.ts'
import { findWatermark, pruning } from '../../store/feed/followers.ts'
import { type FeedPosition, isBefore } from '../../store/feed/positions.ts'
import type { Hub } from '../hub/hub.ts'
import { pauseMs } from '../hub/job-leases.ts'
import { keepLooking, type Next } from '../hub/keep-looking.ts'

/**
 * After a step: a full page was taken, or a short one; nothing is new; changes are there, but an open transaction may come
 * before them; another process has the job lease.
 */
export type Outcome = 'more' | 'some' | 'done' | 'hidden' | 'held'

/** From a wake to the look: changes that come meanwhile share a commit. */
const usualGatherMs = 100

/** An open transaction, another's lease or a fault is given longer each time. */
const backOff = { firstMs: 50, longestMs: 10_000, wakesShorten: false }

/**
 * Nodes on PostgreSQL announce only the changes that somebody waits for, and a process that dies right after its commit
 * announces nothing (feed.follower.woken).
 */
const anywayMs = 60_000

/** Steps in this process until the returned function is called; that waits for the page in hand. Every process may do this. */
export function keepFollowing(
  hub: Hub,
  { name, gatherMs = usualGatherMs }: { readonly name: string; readonly gatherMs?: number },
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

/** `gap`: the follower is new, came too late, or comes from another database: it makes everything anew and goes on from `to`. */
type News =
  | { readonly kind: 'none'; readonly hidden: boolean }
  | { readonly kind: 'page'; readonly changes: readonly Recorded[]; readonly to: FeedPosition }
  | { readonly kind: 'gap'; readonly to: FeedPosition }

export async function lookFrom(db: Reader, watermark: FeedPosition | undefined, page: number): Promise<News> {
  // Read before the tables are: a rebuild that goes on from here misses nothing in between.
  const end = await findEnd(db)
  // A watermark beyond the end is of another database, or from before this one was restored.
  if (watermark === undefined || isBefore(end, watermark)) return { kind: 'gap', to: end }
  const changes = await listChangesAfter(db, watermark, page)
  // Asked after the page was read: changes that were pruned before that do not go unnoticed.
  const pruned = await findWatermark(db, pruning)
  if (pruned !== undefined && isBefore(watermark, pruned)) {
    // Asked anew: the feed grows. Pruned beyond its end was the feed of another server, of which this database is a copy.
    const to = await findEnd(db)
    if (!isBefore(to, pruned)) return { kind: 'gap', to }
  }
  const last = changes.at(-1)
  if (last === undefined) return { kind: 'none', hidden: await hasChangesAfter(db, watermark) }
  return { kind: 'page', changes, to: { tx: last.tx, id: last.id } }
}
