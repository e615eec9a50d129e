/** Pruning: old changes leave the feed, once every follower that was heard of lately has passed them. */
import type { Tx } from '../../db/port.ts'
import { deleteChanges, deleteForeign, listChangesAfter } from '../../store/feed/changes.ts'
import { findSlowest, findWatermark, pruning, upsertWatermark } from '../../store/feed/followers.ts'
import { isBefore, start } from '../../store/feed/positions.ts'
import type { Chore } from '../hub/chores.ts'

const rowsPerCommit = 300

/** A follower that was not heard of for this long is no longer waited for: its next look shows it the gap. */
export const silenceMs = 7 * 86_400_000

const hourMs = 3_600_000

export const pruningChore = ({ keptMs }: { keptMs: number }): Chore => ({
  name: 'feed-pruning',
  everyMs: Math.min(keptMs, hourMs),
  async run(hub, job) {
    await job.batch(deleteForeign)
    const pruneNext = (tx: Tx) => prune(tx, { now: hub.clock.now(), keptMs })
    while (await job.batch(pruneNext));
  },
})

/** Deletes the oldest changes, some hundreds of them; false if none may go. The newest always stays: ids are counted from it. */
async function prune(tx: Tx, { now, keptMs }: { now: number; keptMs: number }): Promise<boolean> {
  const pruned = (await findWatermark(tx, pruning)) ?? start
  const slowest = await findSlowest(tx, now - silenceMs)
  const changes = await listChangesAfter(tx, pruned, rowsPerCommit + 1)
  // Every change before an old one is old too, whatever the clock of its process said.
  const last = changes
    .slice(0, -1)
    .findLast((change) => change.at < now - keptMs && (slowest === undefined || !isBefore(slowest, change)))
  if (last === undefined) return false
  await deleteChanges(tx, { after: pruned, upTo: last })
  await upsertWatermark(tx, { name: pruning, to: last, now })
  return true
}
