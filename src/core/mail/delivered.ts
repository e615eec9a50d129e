/** Marks mail as delivered once its text went out in an answer that was written: behind the answer, in batches. */
import { updateDelivered } from '../../store/messages/deliveries.ts'
import { countsAsActive } from '../access/rules.ts'
import { type Acting, findActor } from '../agents/acting.ts'
import { isNewcomer } from '../agents/agents.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, onClose } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

const gatherMs = 250

const marks = memory((hub) => {
  const kept = {
    due: new Map<number, Set<number>>(),
    writing: Promise.resolve(),
    known: new Map<string, true>(),
    cancel: undefined as (() => void) | undefined,
  }
  onClose(hub, () => write(hub))
  return kept
})

/**
 * Only the recipient's own calls mark; one who may only read marks nothing. What was marked before costs nothing. `anew`: mail of a run is
 * handed out by each run.
 */
export function noteDelivered(hub: Hub, acting: Acting, messageIds: readonly number[], anew = false): void {
  if (acting.caller.readOnly || !countsAsActive(acting.caller) || messageIds.length === 0) return
  gather(hub, acting, messageIds, anew).catch((error: unknown) =>
    hub.log.debug({ err: error }, 'delivered mail is not marked'),
  )
}

async function gather(hub: Hub, acting: Acting, messageIds: readonly number[], anew: boolean): Promise<void> {
  const agent = await findActor(hub, { ...acting, unnoticed: true })
  if (isNewcomer(agent)) return
  const kept = marks(hub)
  for (const messageId of messageIds) {
    const key = `${agent.id} ${messageId}`
    if (kept.known.has(key) && !anew) continue
    remember(kept.known, key, true)
    const due = kept.due.get(agent.id) ?? new Set()
    kept.due.set(agent.id, due.add(messageId))
  }
  if (kept.due.size > 0)
    kept.cancel ??= hub.clock.after(gatherMs, () => {
      void write(hub)
    })
}

/** When nothing of the agent waits to be marked. */
export async function deliveredMarked(hub: Hub, agentId: number): Promise<void> {
  const { due, writing } = marks(hub)
  await (due.has(agentId) ? write(hub) : writing)
}

/** Never rejects: a mark that is lost makes a message seem newer than it is, and nothing worse. */
function write(hub: Hub): Promise<void> {
  const kept = marks(hub)
  kept.cancel?.()
  kept.cancel = undefined
  kept.writing = Promise.all([kept.writing, writeDue(hub)]).then(() => {})
  return kept.writing
}

async function writeDue(hub: Hub): Promise<void> {
  const kept = marks(hub)
  const due = [...kept.due].sort(([a], [b]) => a - b)
  kept.due.clear()
  if (due.length === 0) return
  const now = hub.clock.now()
  const work = commit(
    hub,
    itself,
    async (tx) => {
      for (const [recipientId, ids] of due) await updateDelivered(tx, { recipientId, messageIds: [...ids], now })
    },
    { repeatable: true },
  )
  await work.catch((error: unknown) => hub.log.warn({ err: error }, 'delivered mail is not marked'))
}
