/** Projections outside the database, which keep their watermark with what they wrote: the archive is one. */
import { pause } from '../../base/clock.ts'
import { findEnd, type Recorded } from '../../store/feed/changes.ts'
import { findWatermark, upsertWatermark } from '../../store/feed/followers.ts'
import { type FeedPosition, isBefore, isSame } from '../../store/feed/positions.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { isWanted, type JobLease, newHolder, takeJobLease } from '../hub/job-leases.ts'
import { keepFollowing, lookFrom, type Outcome } from './following.ts'

/** The database is told of its watermark, so that pruning waits for it. */
export interface OutsideProjection {
  readonly name: string
  watermark(): Promise<FeedPosition | undefined>
  /**
   * Keeps `to` as its watermark. After a death before that it is handed the same changes again, and maybe more. Long work
   * calls `job.renew()` every few seconds: it throws once another process has taken over.
   */
  take(changes: readonly Recorded[], to: FeedPosition, job: JobLease): Promise<void>
  /** It is new, or came too late: makes everything anew from the tables, and keeps `to`. */
  rebuild(to: FeedPosition, job: JobLease): Promise<void>
}

interface Working {
  readonly holder: string
  readonly signal: AbortSignal
}

/** Each page costs waits for the disk, which senders then wait for too: fewer pages than inside the database. */
const page = 500

/** Changes that come while a page is written share the next one, if that is not full. */
const gatherMs = 100

/** The database is told at the end, and in between no more often than this: each time, senders wait for the write lock. */
const reportEveryMs = 5000

export const keepOutside = (hub: Hub, projection: OutsideProjection, holder = newHolder(hub)): (() => Promise<void>) =>
  keepFollowing(hub, projection, (signal) => stepOutside(hub, projection, { holder, signal }))

/** Nothing outside can be locked with a row: the work is done under a job lease, and in no transaction. */
export async function stepOutside(hub: Hub, projection: OutsideProjection, working: Working): Promise<Outcome> {
  const { name } = projection

  /** Its own watermark is asked last: then it is before the reported one only where a rebuild was cut off. */
  async function look() {
    const reported = await findWatermark(reader(hub), name)
    const watermark = await projection.watermark()
    // One that has reported nothing to this database comes from another, or `deleteForeign` wants it to begin anew.
    const trusted = reported !== undefined && watermark !== undefined && !isBefore(watermark, reported)
    return { reported, watermark, news: await lookFrom(reader(hub), trusted ? watermark : undefined, page) }
  }

  async function run(job: JobLease): Promise<void> {
    for (let toldAt = Number.NEGATIVE_INFINITY; ; ) {
      // Asked anew in every round: before the lease was had, another process may have gone on.
      const { reported, watermark, news } = await look()
      const last = news.kind === 'none' || (await isWanted(hub, jobName(name)))
      // Before everything is made anew: otherwise pruning would not wait for the end of it.
      const to = news.kind === 'gap' ? news.to : watermark
      const due = last || news.kind === 'gap' || hub.clock.monotonic() - toldAt >= reportEveryMs
      if (to !== undefined && due && !isSame(to, reported)) {
        await job.batch((tx) => upsertWatermark(tx, { name, to, now: hub.clock.now() }))
        toldAt = hub.clock.monotonic()
      }
      if (last) return
      await job.renew()
      if (news.kind === 'gap') await projection.rebuild(news.to, job)
      else {
        await projection.take(news.changes, news.to, job)
        if (news.changes.length < page) await pause(gatherMs, working.signal)
      }
    }
  }

  const { reported, watermark, news } = await look()
  if (news.kind === 'none' && isSame(reported, watermark)) return news.hidden ? 'hidden' : 'done'
  if (await isWanted(hub, jobName(name))) return 'held'
  return (await takeJobLease(hub, { name: jobName(name), everyMs: 0, ...working }, run)) ? 'more' : 'held'
}

/** Makes everything anew, though there is no gap; false if another process has the lease. */
export function rebuildOutside(hub: Hub, projection: OutsideProjection, working: Working): Promise<boolean> {
  const { name } = projection
  return takeJobLease(hub, { name: jobName(name), everyMs: 0, ...working }, async (job) => {
    const to = await findEnd(reader(hub))
    await job.batch((tx) => upsertWatermark(tx, { name, to, now: hub.clock.now() }))
    await projection.rebuild(to, job)
  })
}

/** The job under whose lease a projection works. */
export const jobName = (projection: string): string => `follow ${projection}`
