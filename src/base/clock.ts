/** The hub's clock, integer milliseconds, injected so that tests can turn it; and the timers of the process itself. */
import { setImmediate as immediately, setTimeout as sleep } from 'node:timers/promises'

/** The end of the year 9999: every time up to here can be written down, and nothing is meant to last longer. */
export const latestTime = 253_402_300_799_999

export interface Clock {
  /** The time of day, which may be set: for everything that is stored or shown. */
  now(): number
  /** Milliseconds that have passed since some moment, whatever becomes of the time of day: for waits and durations. */
  monotonic(): number
  /** Runs `fn` once after `ms`; returns its cancellation. The timer does not keep a process alive. */
  after(ms: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Runs `fn` once everything that follows at once from the present moment has run. */
export const afterThis = (fn: () => void): void => process.nextTick(fn)

/** Ends in the next turn of the event loop: others have their turn first. */
export const nextTurn = (): Promise<void> => immediately()

export function afterTurns(turns: number, fn: () => void): void {
  setImmediate(turns === 1 ? fn : () => afterTurns(turns - 1, fn))
}

/** By the machine's clock, for others to get in between: no test turns it. Ends early when it is told to. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, signal && { signal }).catch(() => {})

interface Round {
  readonly fns: Set<() => void>
  readonly timer: NodeJS.Timeout
}

const rounds = new Map<number, Round>()

/**
 * Runs `fn` every `ms`, the first time within that, until the returned function is called; not twice with the same `fn`. The timer does
 * not keep a process alive. All of one period run together: an idle process wakes up once for them, and waking up is what it costs.
 */
export function every(ms: number, fn: () => void): () => void {
  const round = rounds.get(ms) ?? startRound(ms)
  round.fns.add(fn)
  return () => {
    round.fns.delete(fn)
    if (round.fns.size > 0 || rounds.get(ms) !== round) return
    clearInterval(round.timer)
    rounds.delete(ms)
  }
}

function startRound(ms: number): Round {
  const fns = new Set<() => void>()
  const timer = setInterval(() => {
    for (const fn of [...fns]) fn()
  }, ms)
  timer.unref()
  const round = { fns, timer }
  rounds.set(ms, round)
  return round
}

/** Runs `fn` once after `ms`, and keeps the process alive until then; returns its cancellation. */
export function alarm(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}

/** Keeps the process alive until the returned function is called. */
export function stayAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30)
  return () => clearInterval(timer)
}
