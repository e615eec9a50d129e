/** The ids of what was handled lately: a client that runs for months must not keep them all. */

const most = 10_000

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
    if (this.#ids.size > most && oldest !== undefined) this.#ids.delete(oldest)
    return true
  }

  delete(id: string): void {
    this.#ids.delete(id)
  }
}
