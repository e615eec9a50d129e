/** The waits of all workers: each is told how many there are in the others. */
import type { WaitCounts } from '../core/hub/waits.ts'

interface Told {
  /** The worker that is told. */
  readonly id: number
  readonly counts: WaitCounts
}

export function createSharedWaits() {
  const workers = new Map<number, { all: number; readonly by: Map<string, number> }>()

  const besides = (id: number, waiters: Iterable<string>): Told => {
    const others = [...workers].filter(([other]) => other !== id).map(([, counts]) => counts)
    const sum = (of: (one: (typeof others)[number]) => number) => others.reduce((total, one) => total + of(one), 0)
    const by = [...waiters].map((waiter) => [waiter, sum((one) => one.by.get(waiter) ?? 0)] as const)
    return { id, counts: { all: sum(({ all }) => all), by } }
  }
  const tellAll = (waiters: readonly string[], but?: number): Told[] =>
    [...workers.keys()].filter((id) => id !== but).map((id) => besides(id, waiters))

  return {
    add(id: number): void {
      workers.set(id, workers.get(id) ?? { all: 0, by: new Map() })
    },
    /** Takes what has changed in one worker; returns what the others have to know. */
    take(id: number, { all, by }: WaitCounts): Told[] {
      const counts = workers.get(id) ?? { all: 0, by: new Map<string, number>() }
      workers.set(id, counts)
      counts.all = all
      for (const [waiter, count] of by)
        if (count > 0) counts.by.set(waiter, count)
        else counts.by.delete(waiter)
      return tellAll(
        by.map(([waiter]) => waiter),
        id,
      )
    },
    /** It has died, and its waits with it. */
    remove(id: number): Told[] {
      const waiters = [...(workers.get(id)?.by.keys() ?? [])]
      workers.delete(id)
      return tellAll(waiters)
    },
  }
}
