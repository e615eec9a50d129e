/** What a client waits for: something may have happened at the server. Whoever is woken looks for itself. */
import type { Clock } from '../../base/clock.ts'

export class News {
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()
  #count = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How often there was news. Taken before a look: what comes during the look is then not missed. */
  get count(): number {
    return this.#count
  }

  tell(): void {
    this.#count++
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves once there was news since `seen`, when the time is up, or when one of the signals aborts. */
  after(seen: number, ms: number, signals: readonly AbortSignal[]): Promise<void> {
    if (this.#count !== seen || signals.some((signal) => signal.aborted)) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#clock.after(Math.max(1, ms), resolve)
    this.#waiting.add(resolve)
    for (const signal of signals) signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(() => {
      cancel()
      this.#waiting.delete(resolve)
    })
  }
}
