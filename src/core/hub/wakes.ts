/** The wake-ups of this process: who waits on a topic is told that it may have changed. A hint, never the truth. */

interface Watcher {
  readonly prefix: string
  readonly fn: (topic: string) => void
  readonly missed: () => void
}

export class Wakes {
  readonly #sleepers = new Map<string, Set<() => void>>()
  readonly #watchers = new Set<Watcher>()

  /** Calls `fn` whenever `topic` may have changed, until the returned function is called. */
  on(topic: string, fn: () => void): () => void {
    const set = this.#sleepers.get(topic) ?? new Set()
    this.#sleepers.set(topic, set.add(fn))
    return () => {
      set.delete(fn)
      if (set.size === 0 && this.#sleepers.get(topic) === set) this.#sleepers.delete(topic)
    }
  }

  /** Calls `fn` with every topic that starts with `prefix`, and `missed` when some of them may have been lost. */
  onEvery(prefix: string, fn: (topic: string) => void, missed: () => void): () => void {
    const watcher = { prefix, fn, missed }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  wake(topics: Iterable<string>): void {
    for (const topic of topics) {
      for (const fn of this.#sleepers.get(topic) ?? []) fn()
      for (const { prefix, fn } of this.#watchers) if (topic.startsWith(prefix)) fn(topic)
    }
  }

  /** When hints may have been lost: everybody asks again. */
  wakeAll(): void {
    for (const sleepers of [...this.#sleepers.values()]) for (const fn of sleepers) fn()
    for (const { missed } of this.#watchers) missed()
  }

  /** Whether nobody would notice a wake-up. */
  get idle(): boolean {
    return this.#sleepers.size === 0 && this.#watchers.size === 0
  }

  get size(): number {
    let count = 0
    for (const set of this.#sleepers.values()) count += set.size
    return count
  }
}
