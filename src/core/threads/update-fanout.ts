/** Tells all followers of threads in this process of the changes at the tail of the feed: one look at a change, however many are told of it. */
import type { FeedRow } from '../../store/feed/changes.ts'
import { isBefore, start } from '../../store/feed/positions.ts'
import { joinTail, type TailReader } from '../feed/tail.ts'
import type { Hub } from '../hub/hub.ts'
import { audienceOf, nameOfAgent, namesOf } from './audience.ts'
import type { Follower } from './updates.ts'

interface Tailing {
  readonly reader: TailReader
  leave(): void
}

export class Pump {
  readonly #hub: Hub
  readonly #followers = new Set<Follower>()
  /** Followers by the names of the threads they follow; those that follow more are asked about every change. */
  readonly #byThread = new Map<string, Set<Follower>>()
  readonly #broad = new Set<Follower>()
  #joining = 0
  /** While there are followers. */
  #tailing: Promise<Tailing> | undefined

  constructor(hub: Hub) {
    this.#hub = hub
  }

  async join(follower: Follower): Promise<() => void> {
    this.#joining++
    try {
      this.#tailing ??= this.#tail()
      const { reader } = await this.#tailing
      // The feed may have gone on meanwhile; from the moment it has not, the follower is told with all others.
      do {
        const upTo = reader.position
        // The changes that it catches up with may say which agent it is.
        await follower.look()
        await follower.catchUp(upTo)
      } while (isBefore(follower.position, reader.position))
      this.#followers.add(follower)
      if (follower.broad) this.#broad.add(follower)
      for (const name of follower.threads)
        this.#byThread.set(name, (this.#byThread.get(name) ?? new Set()).add(follower))
    } finally {
      this.#joining--
      this.#restIfAlone()
    }
    return () => this.#leave(follower)
  }

  async #tail(): Promise<Tailing> {
    const reader: TailReader = { position: start, take: (change) => this.#tell(reader, change) }
    return { reader, leave: await joinTail(this.#hub, reader) }
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower)
    this.#broad.delete(follower)
    for (const name of follower.threads) {
      const set = this.#byThread.get(name)
      set?.delete(follower)
      if (set?.size === 0) this.#byThread.delete(name)
    }
    this.#restIfAlone()
  }

  #restIfAlone(): void {
    if (this.#followers.size + this.#joining > 0) return
    // Where the tail could not be joined, those who tried were told.
    this.#tailing?.then(
      ({ leave }) => leave(),
      () => {},
    )
    this.#tailing = undefined
  }

  async #tell(reader: TailReader, change: FeedRow): Promise<void> {
    const { kind, agent_id: agentId, thread_id: threadId } = change
    const created = kind === 'agent.created' && agentId !== null
    if (created) await this.#welcome(agentId)
    const spoken = threadId !== null && kind.startsWith('message.')
    const { names = [] } = (spoken && this.#followers.size > 0 && (await namesOf(this.#hub, threadId))) || {}
    const interested = this.#interestedIn(names).size > 0
    const audience = interested ? await audienceOf(this.#hub, change) : undefined
    // Nothing is awaited from here on: who joins before has a position before this change, who joins after has one behind it.
    if (kind === 'agent.keyed' && agentId !== null) for (const follower of this.#followers) follower.lose(agentId)
    for (const follower of this.#interestedIn(names))
      if (isBefore(follower.position, change)) follower.take(change, audience)
    reader.position = { tx: change.tx, id: change.id }
    // A follower that joined meanwhile had looked before the agent was there.
    if (created) await this.#welcome(agentId)
  }

  #interestedIn(names: readonly string[]): ReadonlySet<Follower> {
    const [name = '', ...others] = names.filter((one) => this.#byThread.has(one))
    const first = this.#byThread.get(name)
    if (others.length === 0 && (this.#broad.size === 0 || first === undefined)) return first ?? this.#broad
    const all = new Set(this.#broad)
    for (const one of [name, ...others]) for (const follower of this.#byThread.get(one) ?? []) all.add(follower)
    return all
  }

  /** Somebody who was nobody may be an agent now. */
  async #welcome(agentId: number): Promise<void> {
    const name = await nameOfAgent(this.#hub, agentId)
    for (const follower of this.#followers) if (name !== undefined && follower.awaits(name)) await follower.look()
  }
}
