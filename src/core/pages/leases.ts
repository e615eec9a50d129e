/** Leases as people see them: each with its state in words, and who else holds the same paths. */
import { listActiveTimes } from '../../store/agents/agents.ts'
import { listLeases as listRows, type NamedLeaseRow } from '../../store/leases.ts'
import { listHolding } from '../../store/pages/board.ts'
import type { Caller } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { needAgent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { conflictsOf } from '../leases/conflicts.ts'
import { fromNamed, type Lease } from '../leases/leases.ts'
import { needProject } from '../projects/projects.ts'
import { type Page, pageOf } from './page-message.ts'

export interface PageLease extends Lease {
  readonly state: 'active' | 'released' | 'expired'
  /** When its holder was last seen; 0 for one that never did anything. */
  readonly holderSeenAt: number
  /** Active leases of others that stand in its way. */
  readonly conflicts: readonly Pick<Lease, 'id' | 'agent' | 'pattern'>[]
}

interface LeasesWish {
  readonly state?: 'active' | 'all' | undefined
  /** The name of a holder. */
  readonly agent?: string | undefined
  readonly before?: number | undefined
  readonly limit: number
}

/** So many of the newest that hold now are compared with those of a page. */
const mostHolding = 2000

/** The newest first. */
export async function listPageLeases(
  hub: Hub,
  caller: Caller,
  project: string,
  { state = 'all', agent, before, limit }: LeasesWish,
): Promise<Page<PageLease>> {
  const { id: projectId } = await needProject(hub, caller, project)
  const agentId = agent === undefined ? undefined : (await needAgent(hub, caller, project, agent)).id
  const now = hub.clock.now()
  const activeAt = state === 'active' ? now : undefined
  const rows = await listRows(reader(hub), { projectId, activeAt, agentId, before, limit: limit + 1 })
  const { items, next } = pageOf(rows, limit, ({ id }) => id)
  const holders = [...new Set(items.map(({ agent_id }) => agent_id))]
  const written = holders.length === 0 ? [] : await listActiveTimes(reader(hub), holders)
  const seen = new Map(written.map(({ id, active_at }) => [id, activity(hub).latest(id, active_at)]))
  const inTheWay = await listInTheWay(hub, projectId, items, now)
  const leases = items.map((row) => ({
    ...fromNamed(row),
    state: stateOf(row, now),
    holderSeenAt: seen.get(row.agent_id) ?? 0,
    conflicts: inTheWay.get(row.id) ?? [],
  }))
  return { items: leases, next }
}

/** An expired lease is put away at the time of its end. */
const stateOf = ({ released_at, expires_at }: NamedLeaseRow, now: number): PageLease['state'] =>
  released_at !== null && released_at < expires_at ? 'released' : expires_at <= now ? 'expired' : 'active'

/** All that hold now are read once, and compared in memory. */
async function listInTheWay(
  hub: Hub,
  projectId: number,
  rows: readonly NamedLeaseRow[],
  now: number,
): Promise<ReadonlyMap<number, PageLease['conflicts']>> {
  const asked = new Set(rows.filter((row) => stateOf(row, now) === 'active').map(({ id }) => id))
  const found = new Map<number, Pick<Lease, 'id' | 'agent' | 'pattern'>[]>()
  if (asked.size === 0) return found
  const holding = await listHolding(reader(hub), { projectId }, { now, limit: mostHolding })
  for (const { holder, other } of conflictsOf(holding, ({ id }) => asked.has(id)))
    for (const [of, { id, agent, pattern }] of [
      [holder.id, other],
      [other.id, holder],
    ] as const)
      found.set(of, [...(found.get(of) ?? []), { id, agent, pattern }])
  return found
}
