/** The quota of an inbox. An inbox only grows: the count goes on from where the last one ended. */

import type { Tx } from '../../db/port.ts'
import { countInboxAfter, findInInbox } from '../../store/mail/retention.ts'
import type { Hub } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

interface Counted {
  /** The id of the last message that is counted. */
  readonly place: number
  readonly count: number
}

/** How full the inboxes were when they were last counted. */
const counted = memory(() => new Map<number, Counted>())

/** The count goes on in steps. To count 100,000 with every send would cost it 3.5 ms; this costs 0.05. */
const messagesPerStep = 256

/** Mail of this age is committed. Younger mail may be of this very group of writes, and go with it. */
const settledMs = 10_000

/** Whether it holds fewer than `quota` messages, read or not. */
export async function hasInboxRoom(
  hub: Hub,
  tx: Tx,
  { agentId, quota }: { agentId: number; quota: number },
): Promise<boolean> {
  const before = counted(hub).get(agentId) ?? { place: 0, count: 0 }
  const { place, count } = await countOn(tx, agentId, { ...before, until: hub.clock.now() - settledMs })
  if (count > before.count) remember(counted(hub), agentId, { place, count })
  const left = quota - count
  return left > 0 && (await countInboxAfter(tx, { recipientId: agentId, after: place, most: left })) < left
}

async function countOn(
  tx: Tx,
  agentId: number,
  { place, count, until }: Counted & { until: number },
): Promise<Counted> {
  const next = await findInInbox(tx, agentId, { after: place, steps: messagesPerStep })
  if (next === undefined || next.at > until) return { place, count }
  return countOn(tx, agentId, { place: next.id, count: count + messagesPerStep, until })
}
