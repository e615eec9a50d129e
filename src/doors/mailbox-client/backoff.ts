/** The pauses between retries: 1, 2, 4 … 30 s, each up to a fifth shorter at random. */
import type { Ids } from '../../base/ids.ts'

const [firstMs, longestMs] = [1000, 30_000]

export class Backoff {
  readonly #ids: Ids
  #failures = 0

  constructor(ids: Ids) {
    this.#ids = ids
  }

  /** The pause after one more failure; random, so that the clients of a server do not all return at once. */
  next(): number {
    const ms = Math.min(firstMs * 2 ** this.#failures, longestMs)
    this.#failures = Math.min(this.#failures + 1, 10)
    return ms - this.#ids.below(ms / 5)
  }

  reset(): void {
    this.#failures = 0
  }
}
