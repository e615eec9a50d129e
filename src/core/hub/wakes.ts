/** The wake-ups of this process: waiters on a channel are told that it may have changed. Wake-ups may be lost or false. */

/** The channel of changes that wake nobody else: those who follow the feed listen to every channel. */
export const feedChannel = 'feed'

/** `uncommitted`: the change is written, and not committed yet. */
type Sleeper = (uncommitted?: boolean) => void

/** One of those who wait for what only one of them gets: mail of one mailbox. */
interface Competitor {
  /** Told that there may be something. */
  readonly tell: Sleeper
  asleep: boolean
  /** Told before the commit, and not yet after it. */
  uncommitted: boolean
}

interface Watcher {
  readonly prefix: string
  readonly fn: (channel: string) => void
  readonly missed: () => void
}

export class Wakes {
  readonly #sleepers = new Map<string, Set<Sleeper>>()
  /** In the order in which they came. */
  readonly #queues = new Map<string, Set<Competitor>>()
  readonly #watchers = new Set<Watcher>()
  #needed = () => {}

  /** Calls `fn` whenever `channel` may have changed, until the returned function is called. */
  on(channel: string, fn: Sleeper): () => void {
    this.#needed()
    return join(this.#sleepers, channel, fn)
  }

  /**
   * Stands in the queue of `channel` until the returned function is called. A wake-up is for the first who sleeps there: told all, a
   * thousand asked for each message, 999 of them in vain, and held everybody up for seconds (serve.wait.crowd). Who was told and leaves
   * must tell others (`tellNext`).
   */
  queue(channel: string, competitor: Competitor): () => void {
    this.#needed()
    return join(this.#queues, channel, competitor)
  }

  /** Tells the first in the queue who sleeps; where nobody does, the first one, who asks again then. */
  tellNext(channel: string): void {
    let told: Competitor | undefined
    for (const competitor of this.#queues.get(channel) ?? []) {
      told ??= competitor
      if (!competitor.asleep && !competitor.uncommitted) continue
      told = competitor
      break
    }
    if (told === undefined) return
    told.uncommitted = false
    told.tell()
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
      this.tellNext(channel)
      for (const { prefix, fn } of this.#watchers) if (channel.startsWith(prefix)) fn(channel)
    }
  }

  /**
   * Before the commit of what they wait for: one of each queue may take it in the same transaction. All others that are told are told
   * afterwards.
   */
  wakeBeforeCommit(channels: Iterable<string>): void {
    if (this.#queues.size === 0) return
    for (const channel of channels)
      for (const competitor of this.#queues.get(channel) ?? []) {
        if (!competitor.asleep) continue
        competitor.uncommitted = true
        competitor.tell(true)
        break
      }
  }

  /** When wake-ups may have been lost: everybody asks again. */
  wakeAll(): void {
    for (const sleepers of [...this.#sleepers.values()]) for (const fn of sleepers) fn()
    for (const channel of [...this.#queues.keys()]) this.tellNext(channel)
    for (const { missed } of this.#watchers) missed()
  }

  /** Calls `fn` before somebody begins to listen. */
  beforeListening(fn: () => void): void {
    this.#needed = fn
  }

  /** Whether nobody would notice a wake-up. */
  get idle(): boolean {
    return this.#sleepers.size === 0 && this.#queues.size === 0 && this.#watchers.size === 0
  }

  get size(): number {
    let count = 0
    for (const waiters of [this.#sleepers, this.#queues]) for (const set of waiters.values()) count += set.size
    return count
  }
}

function join<T>(waiters: Map<string, Set<T>>, channel: string, one: T): () => void {
  const set = waiters.get(channel) ?? new Set()
  waiters.set(channel, set.add(one))
  return () => {
    set.delete(one)
    if (set.size === 0 && waiters.get(channel) === set) waiters.delete(channel)
  }
}
