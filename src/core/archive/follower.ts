/** The archive as a follower of the feed: it takes what was committed, and makes everything anew where it has a gap. */
import { type Archive, beginAnew, clearLeftovers, replaceBy } from '../../archive/archive.ts'
import type { Recorded } from '../../store/feed/changes.ts'
import type { FeedPosition } from '../../store/feed/positions.ts'
import type { OutsideProjection } from '../feed/outside-projections.ts'
import type { Hub } from '../hub/hub.ts'
import { type JobLease, renewDuring } from '../hub/job-leases.ts'
import type { Commits } from './commits-by-project.ts'
import { commitsOf, partsOf } from './composing.ts'
import { everything } from './rebuilding.ts'

/** Told how many of how many messages are done. */
export type Progress = (done: number, total: number) => void

/** Each archive has its own watermark: a node with a disk of its own follows for itself. */
export const followerName = (archiveId: string): string => `archive ${archiveId}`

interface Following {
  readonly archive: Archive
  /** Called when commits were made whose files are not checked out yet. */
  readonly kept?: () => void
  readonly progress?: Progress
}

export function archiveFollower(
  hub: Hub,
  { archive, kept = () => {}, progress = () => {} }: Following,
): OutsideProjection {
  const write = async (commits: Commits, job: JobLease, to: Archive = archive): Promise<void> => {
    try {
      for (const [slug, list] of commits)
        for (const commit of list) {
          // All files of a message together take about a second.
          if (commit.stored !== undefined) await job.renew()
          await to.add(slug, [commit])
        }
      await to.keep()
    } catch (error) {
      to.drop()
      throw error
    }
  }

  return {
    name: followerName(archive.owner.id),
    watermark: async () => archive.place,

    async take(changes: readonly Recorded[], to: FeedPosition, job: JobLease) {
      for (const part of await partsOf(hub, changes)) {
        await job.renew()
        await write(await commitsOf(hub, part), job)
      }
      archive.setPlace(to)
      kept()
    },

    /** In a folder beside: until it is whole, people read the old one. */
    async rebuild(to: FeedPosition, job: JobLease) {
      archive.setPlace(undefined)
      archive.close()
      const anew = beginAnew(archive)
      for await (const { commits, done, total } of everything(hub, to)) {
        await job.renew()
        await write(commits, job, anew)
        progress(done, total)
      }
      await renewDuring(job, anew.show())
      replaceBy(archive, anew)
      archive.setPlace(to)
      clearLeftovers(archive)
      kept()
    },
  }
}
