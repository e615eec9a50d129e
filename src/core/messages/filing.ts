/** Files new mail into inboxes, unread mail and outboxes, many at a time, behind the sends. Reading is exact without it. */
import { can } from '../../db/dialect.ts'
import type { Tx } from '../../db/port.ts'
import { fileDeliveries, fileMessages } from '../../store/mail/boxes.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, onClose, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'

/** One step takes some 3 ms, which everybody waits; 8 where each delivery is another agent's. */
const rowsPerStep = 512

/** A reader of an outbox, or of the messages of a project, looks through the unfiled ones. */
const messagesGathered = 1024

/** Deliveries are filed one agent after the other: the more of them wait, the more lie on the same pages (6.4 µs each instead of 10). */
const deliveriesGathered = 4096

/** How many messages and deliveries this process has made since all were filed. */
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
  if (kept.messages >= messagesGathered) void start(hub, () => fileAllMessages(hub))
  else if (kept.deliveries >= deliveriesGathered) void start(hub, () => fileAllDeliveries(hub))
}

/**
 * Files everything that waits, a step at a time; never rejects. For the start of a server, and for what came by no send: it would be looked
 * through by whoever reads an outbox, or the unread mail of all.
 */
export async function fileAll(hub: Hub): Promise<void> {
  await unfiled(hub).filing
  await start(hub, async () => {
    await fileAllDeliveries(hub)
    await fileAllMessages(hub)
  })
}

/** Others may have left some, or make more meanwhile: it goes on until none is left, also behind a burst. */
async function fileAllMessages(hub: Hub): Promise<void> {
  const kept = unfiled(hub)
  while (!kept.closing && (await step(hub, fileMessages)));
  kept.messages = 0
}

async function fileAllDeliveries(hub: Hub): Promise<void> {
  const kept = unfiled(hub)
  while (!kept.closing && (await step(hub, fileDeliveries)));
  kept.deliveries = 0
}

const step = (hub: Hub, file: (tx: Tx, most: number) => Promise<boolean>): Promise<boolean> =>
  commit(hub, itself, (tx) => file(tx, rowsPerStep), { repeatable: true })

/** Never rejects: the next mail tries again. */
async function start(hub: Hub, work: () => Promise<void>): Promise<void> {
  const kept = unfiled(hub)
  if (!can(reader(hub)).bulkFiling || kept.closing) return
  kept.filing = work()
    .catch((error) => hub.log.warn({ err: error }, 'new mail could not be filed; the next mail tries again'))
    .finally(() => {
      kept.filing = undefined
    })
  await kept.filing
}
