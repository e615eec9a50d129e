/** The wake-ups of this process: waiters on a channel are told that it may have changed. Wake-ups may be lost or false. */

/** The channel of changes that wake nobody else: those who follow the feed listen to every channel. */
export const feedChannel = 'feed'

/** `early`: what it waits for is written, and not committed yet. */
type Sleeper = (early?: boolean) => void

interface Watcher {
  readonly prefix: string
  readonly fn: (channel: string) => void
  readonly missed: () => void
}

export class Wakes {
  readonly #sleepers = new Map<string, Set<Sleeper>>()
  readonly #watchers = new Set<Watcher>()
  #needed = () => {}

  /** Calls `fn` whenever `channel` may have changed, until the returned function is called. */
  on(channel: string, fn: Sleeper): () => void {
    this.#needed()
    const set = this.#sleepers.get(channel) ?? new Set()
    this.#sleepers.set(channel, set.add(fn))
    return () => {
      set.delete(fn)
      if (set.size === 0 && this.#sleepers.get(channel) === set) this.#sleepers.delete(channel)
    }
  }

  /** Calls `fn` with every channel that starts with `prefix`, and `missed` when some of them may have been lost. */
  onEvery(prefix: string, fn: (channel: string) => void, missed: () => void): () => void {
    this.#needed()
    const watcher = { prefix, fn, missed }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  wake(channels: Iterable<string>): void {
    for (const channel of channels) {
      for (const fn of this.#sleepers.get(channel) ?? []) fn()
      for (const { prefix, fn } of this.#watchers) if (channel.startsWith(prefix)) fn(channel)
    }
  }

  /**
   * Before the commit of what they wait for: one sleeper of each channel may take it in the same transaction. All of them are
   * woken afterwards, as ever.
   */
  beckon(channels: Iterable<string>): void {
    if (this.#sleepers.size === 0) return
    for (const channel of channels) {
      const [first] = this.#sleepers.get(channel) ?? []
      first?.(true)
    }
  }

  /** When wake-ups may have been lost: everybody asks again. */
  wakeAll(): void {
    for (const sleepers of [...this.#sleepers.values()]) for (const fn of sleepers) fn()
    for (const { missed } of this.#watchers) missed()
  }

  /** Calls `fn` before somebody begins to listen. */
  beforeListening(fn: () => void): void {
    this.#needed = fn
  }

  /** Whether nobody would notice a wake-up. */
  get idle(): boolean {
    return this.#sleepers.size === 0 && this.#watchers.size === 0
  }

  has(channel: string): boolean {
    return this.#sleepers.has(channel)
  }

  get size(): number {
    let count = 0
    for (const set of this.#sleepers.values()) count += set.size
    return count
  }
}
