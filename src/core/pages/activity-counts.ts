/** Counts messages by slots of time as a follower of the feed: no send waits for it, and pages read sums instead of messages. */
import type { Tx } from '../../db/port.ts'
import type { Recorded } from '../../store/feed/changes.ts'
import { findWatermark } from '../../store/feed/followers.ts'
import { start } from '../../store/feed/positions.ts'
import {
  type CountRow,
  counting,
  deleteShort,
  grains,
  keptShortMs,
  kinds,
  listCounts,
  lowerTotals,
  raiseCounts,
  raiseTotals,
  recount,
} from '../../store/pages/activity.ts'
import { keepProjection, type Projection } from '../feed/projections.ts'
import type { Hub } from '../hub/hub.ts'

/** Counting more at a time costs a server under load less. Pages add what is not counted yet. */
const gatherMs = 2000

/** Of many messages most share their sums: 1,000 cost less than twice what 200 do. */
const page = 1000

export const countingOf = (hub: Hub): Projection => ({
  name: counting,
  gatherMs,
  page,
  take: (tx, changes) => take(hub, tx, changes),
  async rebuild(tx) {
    // Moved in this transaction, before this.
    const place = (await findWatermark(tx, counting)) ?? start
    await recount(tx, hub.clock.now(), place)
  },
})

/** Counts until the returned function is called. */
export const keepCounting = (hub: Hub): (() => Promise<void>) => keepProjection(hub, countingOf(hub))

/** Called before old messages go: pages show how many there are. Where nothing was counted yet, they are missing then anyway. */
export async function uncount(tx: Tx, messageIds: readonly number[]): Promise<void> {
  const place = await findWatermark(tx, counting)
  if (place !== undefined && messageIds.length > 0) await lowerTotals(tx, messageIds, place)
}

async function take(hub: Hub, tx: Tx, changes: readonly Recorded[]): Promise<void> {
  const ids = changes.flatMap((change) =>
    change.kind === 'message.sent' || change.kind === 'message.said' ? [change.messageId] : [],
  )
  if (ids.length === 0) return
  const totals = new Map<number, number>()
  const all = new Tally()
  for (const { count, ...row } of await listCounts(tx, ids)) {
    const { project_id, kind, slot } = row
    if (kind === kinds.sender) totals.set(project_id, (totals.get(project_id) ?? 0) + count)
    for (const grain of Object.values(grains)) {
      const longer = { ...row, grain, slot: slot - (slot % grain) }
      all.raise(longer, count)
      if (kind === kinds.sender) all.raise({ ...longer, kind: kinds.all, from_id: 0 }, count)
    }
  }
  raiseCounts(tx, all.rows())
  await raiseTotals(tx, totals)
  await deleteShort(tx, [...totals.keys()], hub.clock.now() - keptShortMs)
}

/** Sums by their slots. Messages were added up in the shortest slots: the longer ones are sums of few of these. */
class Tally {
  readonly #rows = new Map<string, CountRow>()

  raise(row: Omit<CountRow, 'count'>, by: number): void {
    const key = `${row.project_id}/${row.grain}/${row.kind}/${row.slot}/${row.from_id}/${row.to_id}`
    const known = this.#rows.get(key)
    if (known === undefined) this.#rows.set(key, { ...row, count: by })
    else known.count += by
  }

  rows(): Iterable<CountRow> {
    return this.#rows.values()
  }
}
