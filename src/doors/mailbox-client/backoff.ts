/** The pauses between retries, each twice the last and up to a fifth shorter at random: 1, 2, 4 … 30 s unless told otherwise. */
import type { Ids } from '../../base/ids.ts'

const usual = { firstMs: 1000, longestMs: 30_000 }

export class Backoff {
  readonly #ids: Ids
  readonly #bounds: typeof usual
  #failures = 0

  constructor(ids: Ids, bounds = usual) {
    this.#ids = ids
    this.#bounds = bounds
  }

  /** The pause after one more failure; random, so that the clients of a server do not all return at once. */
  next(): number {
    const { firstMs, longestMs } = this.#bounds
    const ms = Math.min(firstMs * 2 ** this.#failures, longestMs)
    this.#failures = Math.min(this.#failures + 1, 10)
    return ms - this.#ids.below(ms / 5)
  }

  reset(): void {
    this.#failures = 0
  }
}
