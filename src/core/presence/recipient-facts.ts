/** Facts about recipients that a send did not bring along: those of all sends of one moment are read at once. */
import { afterThis } from '../../base/clock.ts'
import { listBehind, listCounters } from '../../store/messages/reach.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import type { Sent } from '../messages/receipt.ts'

interface RecipientFacts {
  /** Unread messages before this one. */
  readonly behind: number
  readonly activeAt: number
}

interface Asked {
  readonly messageId: number
  readonly agentIds: readonly number[]
  readonly resolve: (facts: ReadonlyMap<number, RecipientFacts>) => void
  readonly reject: (error: unknown) => void
}

const waiting = memory(() => ({ asked: [] as Asked[] }))

const nobody: ReadonlyMap<number, RecipientFacts> = new Map()

/** Messages that are committed together are answered together: a read for each took a tenth of a send. */
export async function findRecipientFacts(
  hub: Hub,
  { messageId, deliveries, duplicate }: Sent,
): Promise<ReadonlyMap<number, RecipientFacts>> {
  const agentIds = deliveries.filter(({ found }) => found === undefined).map(({ agent }) => agent.id)
  if (agentIds.length === 0) return nobody
  if (duplicate) {
    const rows = await listBehind(reader(hub), agentIds, messageId)
    return new Map(rows.map(({ id, behind, active_at }) => [id, { behind: Number(behind), activeAt: active_at }]))
  }
  const { asked } = waiting(hub)
  return new Promise((resolve, reject) => {
    asked.push({ messageId, agentIds, resolve, reject })
    if (asked.length === 1) afterThis(() => answerAll(hub).catch(reject))
  })
}

/** Each counter has all messages of the moment in it: those that came later are taken off. */
async function answerAll(hub: Hub): Promise<void> {
  const all = waiting(hub).asked.splice(0)
  try {
    const ids = new Set(all.flatMap(({ agentIds }) => agentIds))
    const counters = new Map((await listCounters(reader(hub), [...ids])).map((row) => [row.id, row]))
    const later = new Map<number, number>()
    for (const { messageId: _, agentIds, resolve } of all.toSorted((a, b) => b.messageId - a.messageId)) {
      const facts = new Map<number, RecipientFacts>()
      for (const id of agentIds) {
        const { unread = 0, active_at: activeAt = 0 } = counters.get(id) ?? {}
        const after = later.get(id) ?? 0
        facts.set(id, { behind: Math.max(0, unread - 1 - after), activeAt })
        later.set(id, after + 1)
      }
      resolve(facts)
    }
  } catch (error) {
    for (const { reject } of all) reject(error)
  }
}
