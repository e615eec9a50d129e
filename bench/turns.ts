/** Contenders take turns in short slices, so that the machine's mood of a second falls on all of them alike. */
import { percentile } from './client.ts'
import type { Load } from './drive.ts'
import { cpu, type Running, rested } from './server.ts'

/** Of a slice. */
export const sliceSeconds = 0.15

/** Runs for about a slice and says what a call cost. */
export interface Contender {
  readonly slice: () => Promise<Cost>
  /** Of a server of Parley, before it is measured. A floor runs slices for half a second. */
  readonly warm?: () => Promise<void>
}

/**
 * Calls that a process of Parley answers before it is measured, if it has answered none yet. Other kinds of call share most of
 * the code, and take fewer.
 */
export const coldCalls = 20_000
export const sharedCalls = 6000

export interface Cost {
  /** Microseconds of wall time a call. */
  readonly wall: number
  /** Microseconds of CPU a call, of the process that serves; not known of every floor. */
  readonly cpu?: number
}

export interface Serving {
  readonly what: string
  /** Calls that it answers without a pause before it is measured. */
  readonly warm: number
  readonly slice?: number
}

/** A server of Parley; `run` lets it answer for so many seconds. What it does behind its answers counts, too, and is over before another has its turn. */
export function served(
  { pid }: Running,
  run: (seconds: number) => Promise<Load>,
  { what, warm, slice = sliceSeconds }: Serving,
): Contender {
  const answer = async (seconds: number): Promise<Load> => {
    const load = await run(seconds)
    if (load.errors > 0) throw new Error(`${what}: ${load.errors} of ${load.calls} calls failed`)
    if (load.calls === 0) throw new Error(`${what}: there was nothing left to take`)
    return load
  }
  return {
    slice: async () => {
      const before = cpu(pid)
      const { calls, microseconds } = await answer(slice)
      await rested(pid)
      return { wall: microseconds, cpu: ((cpu(pid) - before) * 1000) / calls }
    },
    warm: async () => {
      for (let calls = 0; calls < warm; ) calls += (await answer(0.4)).calls
      await rested(pid)
    },
  }
}

/**
 * Runs each contender for a while before it is measured, until its code is compiled, and compiled anew for what it meets: a
 * server runs for days. Parley's takes some 20,000 calls to be as fast as it stays; a floor is there at once. One after the
 * other: two at once come to half of that.
 */
export async function warmUp(contenders: Readonly<Record<string, Contender>>): Promise<void> {
  for (const { slice, warm } of Object.values(contenders))
    if (warm) await warm()
    else for (const until = performance.now() + 500; performance.now() < until; ) await slice()
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
