/** Files new mail into inboxes and outboxes, many at a time, behind the sends. Reading is exact without it. */
import type { Tx } from '../../db/port.ts'
import { fileDeliveries, fileMessages } from '../../store/boxes.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, onClose, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'

/** One step takes 5 to 7 ms, which everybody waits. */
const rowsPerStep = 1024

/**
 * Deliveries are filed one agent after the other: the more of them wait, the more lie on the same pages. From 4,096 on, in four
 * steps, one takes 6.4 µs instead of 10. Whoever reads messages looks through those that wait, and so no more than a step of them do.
 */
const deliveriesGathered = 4 * rowsPerStep

/** How many messages and deliveries this process has made since it last filed some. */
const unfiled = memory((hub) => {
  const kept: { messages: number; deliveries: number; filing: Promise<void> | undefined; closing: boolean } = {
    messages: 0,
    deliveries: 0,
    filing: undefined,
    closing: false,
  }
  onClose(hub, async () => {
    kept.closing = true
    await kept.filing
  })
  return kept
})

/** Told after each commit that stored messages. */
export function noteStored(hub: Hub, stored: { readonly messages: number; readonly deliveries: number }): void {
  const kept = unfiled(hub)
  kept.messages += stored.messages
  kept.deliveries += stored.deliveries
  if (kept.filing !== undefined) return
  if (kept.messages >= rowsPerStep) {
    kept.messages -= rowsPerStep
    start(hub, async () => void (await step(hub, fileMessages)))
  } else if (kept.deliveries >= deliveriesGathered) {
    kept.deliveries -= deliveriesGathered
    start(hub, async () => {
      for (let rows = 0; rows < deliveriesGathered && !kept.closing; rows += rowsPerStep)
        await step(hub, fileDeliveries)
    })
  }
}

/**
 * Files everything that waits, a step at a time. For the start of a server: what others have left, or what came by no send of
 * this process, would be looked through by whoever reads an outbox.
 */
export function fileAll(hub: Hub): void {
  start(hub, async () => {
    for (const file of [fileDeliveries, fileMessages]) while (!unfiled(hub).closing && (await step(hub, file)));
  })
}

const step = (hub: Hub, file: (tx: Tx, most: number) => Promise<boolean>): Promise<boolean> =>
  commit(hub, itself, (tx) => file(tx, rowsPerStep), { repeatable: true })

/** On PostgreSQL nothing waits to be filed. */
function start(hub: Hub, work: () => Promise<void>): void {
  const kept = unfiled(hub)
  if (reader(hub).dialect === 'postgres' || kept.closing) return
  kept.filing = work()
    .catch((error) => hub.log.warn({ err: error }, 'new mail could not be filed; the next step tries again'))
    .finally(() => {
      kept.filing = undefined
    })
}
