/** When each agent was last active: kept in memory and written every few seconds, because looking at one's mail must not cost a write. */
import { updateActive } from '../../store/agents/agents.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, onClose } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'

const writtenAfterMs = 5000

interface Activity {
  touch(agentId: number): void
  /** The later of the stored time and the one known here. */
  latest(agentId: number, stored: number): number
  /** Times that are not written yet, by the ids of the agents. */
  unwritten(): ReadonlyMap<number, number>
  write(): Promise<void>
}

export const activity = memory((hub): Activity => {
  const kept = keepActivity(hub)
  onClose(hub, kept.write)
  return kept
})

function keepActivity(hub: Hub): Activity {
  const seen = new Map<number, number>()
  /** Times of the last write: a reader that asked the store before it has older ones. */
  let written: ReadonlyMap<number, number> = new Map()
  let cancel: (() => void) | undefined

  async function write(): Promise<void> {
    cancel?.()
    cancel = undefined
    if (seen.size === 0) return
    // In the order of their ids, as sends lock them: two transactions can then wait for each other in one direction only.
    const rows = [...seen].sort(([a], [b]) => a - b)
    await commit(hub, itself, async (tx) => {
      for (const [agentId, at] of rows) await updateActive(tx, agentId, at)
    })
    written = new Map(rows)
    for (const [agentId, at] of rows) if (seen.get(agentId) === at) seen.delete(agentId)
  }

  const complain = (error: unknown) => hub.log.warn({ err: error }, 'when agents were last active is not written')

  return {
    touch(agentId) {
      seen.set(agentId, hub.clock.now())
      cancel ??= hub.clock.after(writtenAfterMs, () => write().catch(complain))
    },
    latest: (agentId, stored) => Math.max(seen.get(agentId) ?? written.get(agentId) ?? 0, stored),
    unwritten: () => new Map(seen),
    write: () => write().catch(complain),
  }
}
