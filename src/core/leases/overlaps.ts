/** Overlapping leases: an index of prefixes brings the candidates, the patterns themselves decide. */

import { inboxPattern } from '../../archive/layout.ts'
import { nextTurn } from '../../base/clock.ts'
import type { Reader } from '../../db/port.ts'
import { type Budget, type Glob, leadingTo, OverBudget, overlaps, parseGlob } from '../../globs/globs.ts'
import { listHeld, listLeasesById, listNearby, type NamedLeaseRow, type NearbyRow } from '../../store/leases.ts'
import { remember } from '../hub/memory.ts'

/** More holders of one pattern are not told: they would say nothing new. */
const mostHolders = 50
/** A pattern for a whole project finds enough holders on the first page. */
const pageSize = 200
/** Others have their turn after so many steps of comparing: some 5 ms. */
const stepsPerTurn = 30_000

interface Wanted {
  readonly projectId: number
  readonly agentId: number
  readonly glob: Glob
  readonly exclusive: boolean
  readonly now: number
  /** For all comparisons of one call; OverBudget is thrown past it. */
  readonly budget: Budget
}

/** The active leases of others that stand in the way: of all kinds for an exclusive lease, else exclusive ones only. */
export async function listInTheWay(db: Reader, wanted: Wanted): Promise<{ rows: NamedLeaseRow[]; more: boolean }> {
  const { glob, exclusive, budget, ...whose } = wanted
  let next = budget.steps - stepsPerTurn
  const ids: number[] = []
  for (const prefix of [leadingTo(glob.prefix), { below: glob.prefix }]) {
    let after: NearbyRow | undefined
    do {
      const near = await listNearby(db, { ...whose, prefix, exclusiveOnly: !exclusive, after, limit: pageSize })
      for (const { id, pattern } of near) {
        if (ids.length <= mostHolders && overlaps(glob, stored(pattern), budget)) ids.push(id)
        if (budget.steps >= next) continue
        next = budget.steps - stepsPerTurn
        await nextTurn()
      }
      after = near.length === pageSize && ids.length <= mostHolders ? near.at(-1) : undefined
    } while (after !== undefined)
  }
  return { rows: await listLeasesById(db, ids.slice(0, mostHolders)), more: ids.length > mostHolders }
}

/**
 * Another agent's exclusive lease on the inbox of a recipient, as the archive lays it out. Only patterns that name archive
 * paths count: a lease on all code, `**`, blocks no mail (mail.lease.inbox).
 */
export async function findInboxLease(
  db: Reader,
  { agent, senderId, now }: { agent: { name: string; projectId: number }; senderId: number; now: number },
): Promise<NamedLeaseRow | undefined> {
  const parsed = parseGlob(inboxPattern(agent.name))
  if ('fault' in parsed) return undefined
  const { glob } = parsed
  const budget = { steps: stepsPerTurn }
  const whose = {
    projectId: agent.projectId,
    agentId: senderId,
    now,
    exclusiveOnly: true,
    after: undefined,
    limit: pageSize,
  }
  const leading = leadingTo(glob.prefix).filter((prefix) => prefix.startsWith('agents'))
  for (const prefix of [leading, { below: glob.prefix }])
    for (const { id, pattern } of await listNearby(db, { ...whose, prefix }))
      if (overlaps(glob, stored(pattern), budget)) return (await listLeasesById(db, [id]))[0]
  return undefined
}

type Held = Awaited<ReturnType<typeof listHeld>>

/** Whether two agents hold active leases in one project that overlap, shared or not: they work on the same files. */
export async function haveOverlappingLeases(db: Reader, agentA: number, agentB: number, now: number): Promise<boolean> {
  const held = await listHeld(db, agentA, now)
  if (held.length === 0) return false
  const others = await listHeld(db, agentB, now)
  const budget = { steps: stepsPerTurn }
  try {
    return meet(held, others, budget) || meet(others, held, budget)
  } catch (error) {
    // Patterns too hard to compare are no ground.
    if (error instanceof OverBudget) return false
    throw error
  }
}

/** Whether a lease of `held` overlaps one of `others` whose prefix leads to it. */
function meet(held: Held, others: Held, budget: Budget): boolean {
  const place = (projectId: number, prefix: string): string => `${projectId}/${prefix}`
  const byPlace = Map.groupBy(others, ({ project_id, prefix }) => place(project_id, prefix))
  return held.some(({ project_id, pattern, prefix }) =>
    leadingTo(prefix).some((leading) =>
      byPlace
        .get(place(project_id, leading))
        ?.some((other) => overlaps(stored(pattern), stored(other.pattern), budget)),
    ),
  )
}

const readBefore = new Map<string, Glob>()

/** The glob of a stored pattern. Patterns in use are few, and parsing one costs more than comparing it. */
function stored(pattern: string): Glob {
  const known = readBefore.get(pattern)
  if (known !== undefined) return known
  const parsed = parseGlob(pattern)
  if ('fault' in parsed) throw new Error(`A stored pattern ${parsed.fault}: ${pattern}`)
  return remember(readBefore, pattern, parsed.glob)
}
