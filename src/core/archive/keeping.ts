/** Archiving as long as a server runs: commits as the feed grows, and the files of them whenever there is a pause. */
import { type Archive, lostRepositories } from '../../archive/archive.ts'
import { keepOutside, type OutsideProjection } from '../feed/outside-projections.ts'
import type { Hub } from '../hub/hub.ts'
import { archiveFollower } from './follower.ts'
import { yieldToBursts } from './yield-to-bursts.ts'

/** After the last commit, and at most after the first: git needs as long for one message as for a hundred, and all files there are. */
const [quietMs, latestMs] = [300, 10_000]

/** From one failure to check out to the next try. */
const retryMs = 2000

/** Until the returned function is called; that waits for the page in hand. */
export function keepArchive(hub: Hub, archive: Archive): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  let since: number | undefined
  let cancel = () => {}
  const stopping = new AbortController()
  const giveWay = yieldToBursts(hub, stopping.signal)

  /** One thing at a time is done with the repositories. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work, work)
    last = result.catch(() => {})
    return result
  }

  function showIn(ms: number): void {
    cancel()
    if (stopping.signal.aborted) return
    since ??= hub.clock.now()
    cancel = hub.clock.after(Math.max(0, Math.min(ms, since + latestMs - hub.clock.now())), () => void show())
  }

  /** Never rejects: it is tried again. */
  async function show(): Promise<void> {
    since = undefined
    try {
      await inTurn(() => archive.show())
    } catch (error) {
      hub.log.warn({ err: error }, 'the files of the archive could not be brought up to date; it is tried again')
      since = hub.clock.now() + retryMs
      showIn(retryMs)
    }
  }

  const follower = archiveFollower(hub, { archive, kept: () => showIn(quietMs) })
  const inOrder: OutsideProjection = {
    ...follower,
    async take(changes, to, job) {
      // The files wait for the lull too: writing this page sets the timer again.
      cancel()
      await giveWay(changes.length)
      await inTurn(() => follower.take(changes, to, job))
    },
    async rebuild(to, job) {
      const { folder } = archive
      const lost = lostRepositories(folder)
      if (lost.length > 0)
        hub.log.warn(
          { folder, projects: lost, event: 'archive_lost' },
          'the archives of projects are gone; everything is archived anew from the database',
        )
      await inTurn(() => follower.rebuild(to, job))
    },
  }
  // A killed process may have left commits that are not checked out.
  if (!archive.isShown) showIn(0)
  const stop = keepOutside(hub, inOrder)
  return async () => {
    stopping.abort()
    await stop()
    cancel()
    await inTurn(() => archive.show()).catch((error: unknown) => hub.log.debug({ err: error }, 'not checked out'))
    archive.close()
  }
}
