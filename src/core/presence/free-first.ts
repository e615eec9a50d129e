/** The order in which agents are given shared mail: those who wait, those who can be woken, then the latest active. */
import { listActiveTimes } from '../../store/agents/agents.ts'
import { activity } from '../agents/activity.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { whoWaits } from './presence.ts'

export async function freeFirst(hub: Hub, agentIds: readonly number[]): Promise<readonly number[]> {
  const present = await whoWaits(hub)
  const times = new Map((await listActiveTimes(reader(hub), agentIds)).map(({ id, active_at }) => [id, active_at]))
  const ranked = agentIds.map((id) => {
    const standing = present.of(id)
    const rank = standing === undefined ? 2 : standing.waiting ? 0 : 1
    return { id, rank, activeAt: activity(hub).latest(id, times.get(id) ?? 0) }
  })
  ranked.sort((a, b) => a.rank - b.rank || b.activeAt - a.activeAt || a.id - b.id)
  return ranked.map(({ id }) => id)
}
