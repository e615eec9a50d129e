/** The figures of all workers, for the one that was asked; counts of workers that have died go on. */
import type { Clock } from '../base/clock.ts'
import type { MeasuredElsewhere, MeterSnapshot } from '../base/meters.ts'

/** A worker that is busy for longer is left out of one answer. */
const patienceMs = 1_000

interface Asked {
  readonly id: number
  readonly own: MeterSnapshot
  readonly others: readonly number[]
}

export function createGathering(clock: Clock) {
  /** As each worker last told. */
  const known = new Map<number, MeterSnapshot>()
  /** The sums of those that have died: a counter that fell would look like traffic. */
  let dead: MeterSnapshot = {}
  const waiting = new Map<string, (snapshot: MeterSnapshot) => void>()
  let rounds = 0
  return {
    restarts: 0,
    async gather(
      { id, own, others }: Asked,
      ask: (other: number, round: number) => void,
    ): Promise<MeasuredElsewhere[]> {
      known.set(id, own)
      const round = ++rounds
      await Promise.all(
        others.map(
          (other) =>
            new Promise<void>((resolve) => {
              const done = () => {
                cancel()
                waiting.delete(`${round} ${other}`)
                resolve()
              }
              const cancel = clock.after(patienceMs, done)
              waiting.set(`${round} ${other}`, (snapshot) => {
                known.set(other, snapshot)
                done()
              })
              ask(other, round)
            }),
        ),
      )
      const measured = others.flatMap((other) => {
        const snapshot = known.get(other)
        return snapshot === undefined ? [] : [{ snapshot }]
      })
      return [...measured, { snapshot: dead, ended: true }]
    },
    measured(worker: number, { id, snapshot }: { id: number; snapshot: MeterSnapshot }): void {
      waiting.get(`${id} ${worker}`)?.(snapshot)
    },
    ended(worker: number): void {
      dead = added(dead, known.get(worker) ?? {})
      known.delete(worker)
    },
  }
}

function added(one: MeterSnapshot, other: MeterSnapshot): MeterSnapshot {
  const sum = Object.fromEntries(Object.entries(one).map(([name, members]) => [name, { ...members }]))
  for (const [name, members] of Object.entries(other))
    for (const [key, numbers] of Object.entries(members)) {
      const before = sum[name]?.[key] ?? []
      sum[name] = { ...sum[name], [key]: numbers.map((number, at) => number + (before[at] ?? 0)) }
    }
  return sum
}
