/** Files new mail into inboxes and outboxes, many at a time, behind the sends. Reading is exact without it. */
import { fileNext } from '../../store/boxes.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'

/**
 * One step takes some 4 ms, which everybody waits. With 4,096 the rows of a send cost 0.65 instead of 0.69 of what they cost
 * with indexes that are kept at once.
 */
const deliveriesPerStep = 1024

/** How many deliveries this process has made since it last filed some. */
const unfiled = memory(() => ({ deliveries: 0, filing: false }))

/** Told after each commit that made deliveries. On PostgreSQL they are filed from the start. */
export function noteDeliveries(hub: Hub, count: number): void {
  if (reader(hub).dialect === 'postgres') return
  const kept = unfiled(hub)
  kept.deliveries += count
  if (kept.deliveries < deliveriesPerStep || kept.filing) return
  kept.filing = true
  kept.deliveries = 0
  void commit(hub, itself, (tx) => fileNext(tx, deliveriesPerStep))
    .catch((error) => hub.log.warn({ err: error }, 'new mail could not be filed; the next step tries again'))
    .finally(() => {
      kept.filing = false
    })
}
