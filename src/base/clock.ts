/** The hub's clock: integer milliseconds, injected so that tests can turn it. */

/** The end of the year 9999: every time up to here can be written down, and nothing is meant to last longer. */
export const latestTime = 253_402_300_799_999

export interface Clock {
  now(): number
  /** Runs `fn` once after `ms`; returns its cancellation. The timer does not keep a process alive. */
  after(ms: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
