/** The quota of an inbox. It hardly ever shrinks: the count goes on from where the last one ended, and begins anew before a refusal. */

import type { Tx } from '../../db/port.ts'
import { countInboxAfter, findInInbox } from '../../store/mail/mail-totals.ts'
import type { Hub } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

interface Counted {
  /** The id of the last message that is counted. */
  readonly place: number
  readonly count: number
  /** When it was begun. */
  readonly since: number
}

/** How full the inboxes were when they were last counted. */
const counted = memory(() => new Map<number, Counted>())

/** The count goes on in steps. To count 100,000 with every send would cost it 3.5 ms; this costs 0.05. */
const messagesPerStep = 256

/** Mail of this age is committed. Younger mail may be of this very group of writes, and go with it. */
const settledMs = 10_000

/** Old mail may have been moved out since the count began. A full inbox is counted anew no more often than this. */
const recountMs = 60_000

/** Whether it holds fewer than `quota` messages, read or not. */
export async function hasInboxRoom(
  hub: Hub,
  tx: Tx,
  { agentId, quota }: { agentId: number; quota: number },
): Promise<boolean> {
  const now = hub.clock.now()
  const known = counted(hub).get(agentId)
  if (known !== undefined && (await hasRoomAfter(hub, tx, { agentId, quota, from: known }))) return true
  if (known !== undefined && now - known.since < recountMs) return false
  return hasRoomAfter(hub, tx, { agentId, quota, from: { place: 0, count: 0, since: now } })
}

async function hasRoomAfter(
  hub: Hub,
  tx: Tx,
  { agentId, quota, from }: { agentId: number; quota: number; from: Counted },
): Promise<boolean> {
  const all = await countOn(tx, agentId, { ...from, until: hub.clock.now() - settledMs })
  if (all.count > from.count || from.place === 0) remember(counted(hub), agentId, all)
  const left = quota - all.count
  return left > 0 && (await countInboxAfter(tx, { recipientId: agentId, after: all.place, most: left })) < left
}

async function countOn(
  tx: Tx,
  agentId: number,
  { place, count, since, until }: Counted & { until: number },
): Promise<Counted> {
  const next = await findInInbox(tx, agentId, { after: place, steps: messagesPerStep })
  if (next === undefined || next.at > until) return { place, count, since }
  return countOn(tx, agentId, { place: next.id, count: count + messagesPerStep, since, until })
}
