/** Projections inside the database: each takes the changes in pages, and its watermark moves in the same commit. */
import type { Tx } from '../../db/port.ts'
import type { Recorded } from '../../store/feed/changes.ts'
import { findWatermark, moveWatermark } from '../../store/feed/followers.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keepFollowing, lookFrom, type Outcome } from './following.ts'

export interface Projection {
  readonly name: string
  /** From a wake, or a short page, to the look, where that is no hurry. */
  readonly gatherMs?: number
  /** How many changes it takes in one commit. */
  readonly page?: number
  /**
   * Writes through `tx` alone. Each change is handed over once; if its commit does not come about, again. A rebuild reads
   * the tables after the feed, and may hold changes that are handed over next: taking these in again must do no harm.
   */
  take(tx: Tx, changes: readonly Recorded[]): Promise<void>
  /** It is new, or came too late: everything is made anew from the tables. */
  rebuild(tx: Tx): Promise<void>
}

const usualPage = 200

export const keepProjection = (hub: Hub, projection: Projection): (() => Promise<void>) =>
  keepFollowing(hub, projection, () => stepProjection(hub, projection))

export async function stepProjection(hub: Hub, projection: Projection): Promise<Outcome> {
  const { name, page = usualPage } = projection
  const from = await findWatermark(reader(hub), name)
  const news = await lookFrom(reader(hub), from, page)
  if (news.kind === 'none') return news.hidden ? 'hidden' : 'done'
  await commit(hub, itself, async (tx) => {
    // The first statement is the lock: of two processes with the same page, the second finds the watermark moved.
    if (!(await moveWatermark(tx, { name, from, to: news.to, now: hub.clock.now() }))) return
    await (news.kind === 'gap' ? projection.rebuild(tx) : projection.take(tx, news.changes))
  })
  return projection.gatherMs !== undefined && news.kind === 'page' && news.changes.length < page ? 'some' : 'more'
}
