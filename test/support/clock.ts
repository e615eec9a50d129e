/** A clock that stands still until the test turns it. */
import type { Clock } from '../../src/base/clock.ts'

export class TestClock implements Clock {
  #now: number
  readonly #timers = new Set<{ at: number; fn: () => void }>()

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#now + ms, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves the time on and runs what became due, in order. */
  advance(ms: number): void {
    this.#now += ms
    const due = [...this.#timers].filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.fn()
  }

  get pending(): number {
    return this.#timers.size
  }
}
