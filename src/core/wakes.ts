/** The wake-ups of this process: who waits on a topic is told that it may have changed. A hint, never the truth. */

export class Wakes {
  readonly #sleepers = new Map<string, Set<() => void>>()
  readonly #watchers = new Set<(topic: string) => void>()

  /** Calls `fn` whenever `topic` may have changed, until the returned function is called. */
  on(topic: string, fn: () => void): () => void {
    const set = this.#sleepers.get(topic) ?? new Set()
    this.#sleepers.set(topic, set.add(fn))
    return () => {
      set.delete(fn)
      if (set.size === 0 && this.#sleepers.get(topic) === set) this.#sleepers.delete(topic)
    }
  }

  /** Calls `fn` with every topic that starts with `prefix`. */
  onEvery(prefix: string, fn: (topic: string) => void): () => void {
    const watcher = (topic: string) => {
      if (topic.startsWith(prefix)) fn(topic)
    }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  wake(topics: Iterable<string>): void {
    for (const topic of topics) {
      for (const fn of this.#sleepers.get(topic) ?? []) fn()
      for (const fn of this.#watchers) fn(topic)
    }
  }

  /** When hints may have been lost: everybody asks again. */
  wakeAll(): void {
    this.wake([...this.#sleepers.keys()])
  }

  get size(): number {
    let count = 0
    for (const set of this.#sleepers.values()) count += set.size
    return count
  }
}
