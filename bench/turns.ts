/** Contenders take turns in short slices, so that the machine's mood of a second falls on all of them alike. */
import { percentile } from './client.ts'

/** Runs for about a slice and says what a call cost. */
export interface Contender {
  readonly slice: () => Promise<Cost>
  /** A server of Parley: how long it runs before it is measured. A floor runs for half a second. */
  readonly warmSeconds?: number
}

/** Of a process of Parley, for a kind of call that it has not answered yet. */
export const coldSeconds = 6

export interface Cost {
  /** Microseconds of wall time a call. */
  readonly wall: number
  /** Microseconds of CPU a call, of the process that serves; not known of every floor. */
  readonly cpu?: number
}

/**
 * Runs each contender for a while before it is measured, until its code is compiled, and compiled anew for what it meets: a
 * server runs for days. Parley's takes some 20,000 calls to be as fast as it stays; a floor is there at once. One after the
 * other: two at once come to half of that.
 */
export async function warmUp(contenders: Readonly<Record<string, Contender>>): Promise<void> {
  for (const { slice, warmSeconds = 0.5 } of Object.values(contenders))
    for (const until = performance.now() + warmSeconds * 1000; performance.now() < until; ) await slice()
}

/** One slice of each contender a round; the first of one round is the last of the next. */
export async function takeTurns<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
  rounds: number,
): Promise<Record<Name, Cost[]>> {
  const names = Object.keys(contenders) as Name[]
  const seen = Object.fromEntries(names.map((name) => [name, [] as Cost[]])) as Record<Name, Cost[]>
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as Name
      seen[name].push(await contenders[name].slice())
    }
  return seen
}

export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** The median, and the range that holds the middle half. */
export const spread = (values: readonly number[]): Spread => ({
  median: percentile(values, 50),
  low: percentile(values, 25),
  high: percentile(values, 75),
})

/** `a` against `b`, round by round. */
export const ratios = (a: readonly number[], b: readonly number[]): Spread =>
  spread(a.map((value, round) => value / (b[round] ?? Number.NaN)))

export const walls = (costs: readonly Cost[]): number[] => costs.map(({ wall }) => wall)
export const cpus = (costs: readonly Cost[]): number[] => costs.map(({ cpu = Number.NaN }) => cpu)
