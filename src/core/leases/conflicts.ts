/** Conflicts of leases: pairs of different agents whose paths overlap, at least one of them exclusive. */
import { type Budget, type Glob, leadingTo, OverBudget, overlaps, parseGlob } from '../../globs/globs.ts'
import type { NamedLeaseRow } from '../../store/leases.ts'

type Held = NamedLeaseRow & { readonly project_id: number; readonly prefix: string }

export interface LeasePair<Row> {
  /** The older lease: it stands in the way of the other. */
  readonly holder: Row
  readonly other: Row
}

/** Comparing takes no longer than some milliseconds; pairs beyond that are not found. */
const mostSteps = 50_000

/** The oldest holder first, each pair once; only pairs with one that is asked for. */
export function conflictsOf<Row extends Held>(
  leases: readonly Row[],
  isAsked: (lease: Row) => boolean = () => true,
): LeasePair<Row>[] {
  const place = (projectId: number, prefix: string): string => `${projectId}/${prefix}`
  const byPlace = Map.groupBy(leases, ({ project_id, prefix }) => place(project_id, prefix))
  const pairs = new Map<string, LeasePair<Row>>()
  const budget: Budget = { steps: mostSteps }
  const globOf = reader()
  const meet = (one: string, two: string): boolean => {
    const [a, b] = [globOf(one), globOf(two)]
    return a !== undefined && b !== undefined && overlaps(a, b, budget)
  }
  try {
    for (const one of leases)
      for (const leading of leadingTo(one.prefix))
        for (const two of byPlace.get(place(one.project_id, leading)) ?? []) {
          if (one.agent_id === two.agent_id || one.exclusive + two.exclusive === 0) continue
          if (!isAsked(one) && !isAsked(two)) continue
          const [holder, other] = one.id < two.id ? [one, two] : [two, one]
          const key = `${holder.id} ${other.id}`
          if (!pairs.has(key) && meet(one.pattern, two.pattern)) pairs.set(key, { holder, other })
        }
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error
  }
  return [...pairs.values()].sort((a, b) => a.holder.id - b.holder.id || a.other.id - b.other.id)
}

/** Parsing a pattern costs more than comparing it: each is parsed once. */
function reader(): (pattern: string) => Glob | undefined {
  const known = new Map<string, Glob | undefined>()
  return (pattern) => {
    if (!known.has(pattern)) {
      const parsed = parseGlob(pattern)
      known.set(pattern, 'glob' in parsed ? parsed.glob : undefined)
    }
    return known.get(pattern)
  }
}
