/** A bounded set of recent ids: a client that runs for months must not keep them all. */

const maxIds = 10_000

export class Recent {
  readonly #ids = new Set<string>()

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** False if it was there already. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > maxIds && oldest !== undefined) this.#ids.delete(oldest)
    return true
  }

  delete(id: string): void {
    this.#ids.delete(id)
  }
}
