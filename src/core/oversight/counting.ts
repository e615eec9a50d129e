/** Counts messages by slots of time as a follower of the feed: no send waits for it, and pages read sums instead of messages. */
import type { Tx } from '../../db/port.ts'
import {
  type CountRow,
  deleteShort,
  grains,
  keptShortMs,
  kinds,
  listCounted,
  listOpenPairs,
  raiseCounts,
  raiseTotals,
  recount,
} from '../../store/activity.ts'
import type { Recorded } from '../../store/changes.ts'
import { findWatermark } from '../../store/followers.ts'
import { start } from '../../store/places.ts'
import { followInside, type InsideFollower } from '../hub/followers.ts'
import { stepInside } from '../hub/following.ts'
import type { Hub } from '../hub/hub.ts'

/** Sums that lag by a second or two mislead nobody; counting more at a time costs a server under load less. */
const gatherMs = 2000

const name = 'activity'

const counting = (hub: Hub): InsideFollower => ({
  name,
  gatherMs,
  take: (tx, changes) => take(hub, tx, changes),
  async rebuild(tx) {
    // Moved in this transaction, before this.
    const place = (await findWatermark(tx, name)) ?? start
    await recount(tx, hub.clock.now(), place)
  },
})

/** Counts until the returned function is called. */
export const keepCounting = (hub: Hub): (() => Promise<void>) => followInside(hub, counting(hub))

/** A page of changes each: more than these are counted in the background. */
const mostSteps = 3

/** Before sums are shown: what was committed since is counted, as long as it is little. */
export async function countNew(hub: Hub): Promise<void> {
  const follower = counting(hub)
  for (let step = 0; step < mostSteps; step++) if ((await stepInside(hub, follower)) !== 'more') return
}

async function take(hub: Hub, tx: Tx, changes: readonly Recorded[]): Promise<void> {
  const ids = changes.flatMap((change) =>
    change.kind === 'message.sent' || change.kind === 'message.said' ? [change.messageId] : [],
  )
  if (ids.length === 0) return
  const pairs = Map.groupBy(await listOpenPairs(tx, ids), ({ message_id }) => message_id)
  const rows = new Map<string, CountRow>()
  const totals = new Map<number, number>()
  const raise = (row: Omit<CountRow, 'count'>) => {
    const key = `${row.project_id}/${row.grain}/${row.kind}/${row.slot}/${row.from_id}/${row.to_id}`
    rows.set(key, { ...row, count: (rows.get(key)?.count ?? 0) + 1 })
  }
  for (const { id, project_id, sender_id, created_at } of await listCounted(tx, ids)) {
    totals.set(project_id, (totals.get(project_id) ?? 0) + 1)
    for (const grain of Object.values(grains)) {
      const slot = { project_id, grain, slot: created_at - (created_at % grain) }
      raise({ ...slot, kind: kinds.all, from_id: 0, to_id: 0 })
      raise({ ...slot, kind: kinds.sender, from_id: sender_id, to_id: 0 })
      for (const { recipient_id } of pairs.get(id) ?? [])
        raise({ ...slot, kind: kinds.pair, from_id: sender_id, to_id: recipient_id })
    }
  }
  await raiseCounts(tx, [...rows.values()])
  await raiseTotals(tx, totals)
  await deleteShort(tx, [...totals.keys()], hub.clock.now() - keptShortMs)
}
