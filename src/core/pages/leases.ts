/** Leases as people see them: each with its state in words, and who else holds the same paths. */
import { OverBudget, parseGlob } from '../../globs/globs.ts'
import { listActiveTimes } from '../../store/agents/agents.ts'
import { listLeases as listRows, type NamedLeaseRow } from '../../store/leases.ts'
import type { Caller } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { needAgent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { fromNamed, type Lease } from '../leases/leases.ts'
import { listInTheWay } from '../leases/overlaps.ts'
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

/** Comparing for one page takes no longer than some milliseconds; past that conflicts are not marked. */
const mostSteps = 50_000

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
  const budget = { steps: mostSteps }
  const holders = [...new Set(items.map(({ agent_id }) => agent_id))]
  const written = holders.length === 0 ? [] : await listActiveTimes(reader(hub), holders)
  const seen = new Map(written.map(({ id, active_at }) => [id, activity(hub).latest(id, active_at)]))
  const leases: PageLease[] = []
  for (const row of items) {
    const word = stateOf(row, now)
    const conflicts = word === 'active' ? await inTheWay(hub, { projectId, row, now, budget }) : []
    leases.push({ ...fromNamed(row), state: word, holderSeenAt: seen.get(row.agent_id) ?? 0, conflicts })
  }
  return { items: leases, next }
}

/** An expired lease is put away at the time of its end. */
const stateOf = ({ released_at, expires_at }: NamedLeaseRow, now: number): PageLease['state'] =>
  released_at !== null && released_at < expires_at ? 'released' : expires_at <= now ? 'expired' : 'active'

async function inTheWay(
  hub: Hub,
  { projectId, row, now, budget }: { projectId: number; row: NamedLeaseRow; now: number; budget: { steps: number } },
): Promise<PageLease['conflicts']> {
  const parsed = parseGlob(row.pattern)
  if ('fault' in parsed || budget.steps <= 0) return []
  const wanted = { projectId, agentId: row.agent_id, glob: parsed.glob, exclusive: row.exclusive === 1, now, budget }
  try {
    const { rows } = await listInTheWay(reader(hub), wanted)
    return rows.map(({ id, agent, pattern }) => ({ id, agent, pattern }))
  } catch (error) {
    if (error instanceof OverBudget) return []
    throw error
  }
}
