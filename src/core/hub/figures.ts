/** Gauges that need a query, counted in the background: a scrape of the metrics asks the database for none of them (serve.metrics.behind). */
import { countFull, countLeases, countOverdue, listLags } from '../../store/figures.ts'
import { type Hub, longReader } from './hub.ts'
import { keepLooking } from './keep-looking.ts'

const everyMs = 15_000

/** Beyond this many nobody needs the exact number. */
const mostOverdue = 10_000

export const keepFigures = (hub: Hub): (() => Promise<void>) =>
  keepLooking(hub, {
    gatherMs: 0,
    firstMs: 0,
    backOff: { firstMs: everyMs, longestMs: everyMs, wakesShorten: false },
    failure: 'the figures of the metrics could not be counted; it is tried again',
    look: async () => {
      await countFigures(hub)
      return { inMs: everyMs }
    },
  }).stop

export async function countFigures(hub: Hub): Promise<void> {
  const { metrics, clock, rules, limits } = hub
  const db = longReader(hub)
  const now = clock.now()
  metrics.leases.set(await countLeases(db, now))
  metrics.overdue.set(await countOverdue(db, now - rules.overdueMs, mostOverdue))
  metrics.overQuota.set(await countFull(db, limits.mailboxDepth))
  for (const { name, rows, since } of await listLags(db)) {
    metrics.lagRows.labels(name).set(rows)
    metrics.lagSeconds.labels(name).set(since === undefined ? 0 : Math.max(0, now - since) / 1000)
  }
}
