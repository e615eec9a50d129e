/** A clock that stands still until the test turns it. */
import type { Clock } from '../../src/base/clock.ts'

export class TestClock implements Clock {
  #now: number
  #passed = 0
  readonly #timers = new Set<{ at: number; fn: () => void }>()

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#passed
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#passed + ms, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Sets the time of day; no time passes. */
  set(now: number): void {
    this.#now = now
  }

  /** Moves the time on and runs what became due, in order. A negative time puts the time of day back. */
  advance(ms: number): void {
    this.#now += ms
    this.#passed += Math.max(0, ms)
    const due = [...this.#timers].filter((timer) => timer.at <= this.#passed).sort((a, b) => a.at - b.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.fn()
  }

  get pending(): number {
    return this.#timers.size
  }
}
