/** Reads the feed for all followers of this process: one look at a change, however many are told of it. */
import { findEnd, hasChangesAfter } from '../../store/changes.ts'
import { isBefore, type Place, start } from '../../store/places.ts'
import { listNews, type NewsRow } from '../../store/updates.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keepLooking, type Loop, type Next, type Occasion } from '../hub/keep-looking.ts'
import { audienceOf, nameOfAgent, namesOf } from './audience.ts'
import type { Follower } from './updates.ts'

const page = 200

/** Changes that an older open transaction may still come before are looked for again: soon at first, then less often. */
const backOff = { firstMs: 2, longestMs: 250, wakesShorten: true }

/** A process that dies right after its commit announces nothing. */
const anywayMs = 10_000

/** It looks while there are followers. */
export class Pump {
  readonly #hub: Hub
  readonly #followers = new Set<Follower>()
  /** Followers by the names of the threads they follow; those that follow more are asked about every change. */
  readonly #byThread = new Map<string, Set<Follower>>()
  readonly #broad = new Set<Follower>()
  #joining = 0
  #begun: Promise<void> | undefined
  #place: Place = start
  #loop: Loop | undefined
  /** Settled when the last loop has ended: two at once would move the place back and forth. */
  #rested: Promise<void> = Promise.resolve()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  async join(follower: Follower): Promise<() => void> {
    this.#joining++
    try {
      this.#begun ??= this.#begin()
      await this.#begun
      // The feed may have gone on meanwhile; from the moment it has not, the follower is told with all others.
      do {
        const upTo = this.#place
        // Who it is may be told in what it catches up with.
        await follower.look()
        await follower.catchUp(upTo)
      } while (isBefore(follower.place, this.#place))
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

  async #begin(): Promise<void> {
    await this.#rested
    this.#place = await findEnd(reader(this.#hub))
    this.#loop = keepLooking(this.#hub, {
      channels: '',
      gatherMs: 0,
      anywayMs,
      backOff,
      failure: 'the feed could not be read for subscribers; it is tried again',
      look: (occasion) => this.#look(occasion),
    })
    // What was committed before it listened is then not missed.
    this.#loop.wake()
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
    this.#rested = this.#loop?.stop() ?? this.#rested
    this.#loop = undefined
    this.#begun = undefined
  }

  async #look({ signal, isWoken }: Occasion): Promise<Next> {
    for (let all = false; !all && !signal.aborted; ) {
      const news = await listNews(reader(this.#hub), this.#place, page)
      all = news.all
      for (const change of news.rows) await this.#hand(change)
    }
    if (isWoken() || signal.aborted) return 'rest'
    return (await hasChangesAfter(reader(this.#hub), this.#place)) ? 'blocked' : 'rest'
  }

  async #hand(change: NewsRow): Promise<void> {
    const { kind, agent_id: agentId, thread_id: threadId } = change
    const created = kind === 'agent.created' && agentId !== null
    if (created) await this.#welcome(agentId)
    const spoken = threadId !== null && kind.startsWith('message.')
    const { names = [] } = (spoken && this.#followers.size > 0 && (await namesOf(this.#hub, threadId))) || {}
    const interested = this.#interestedIn(names).size > 0
    const audience = interested ? await audienceOf(this.#hub, change) : undefined
    // Nothing is awaited from here on: who joins before has a place before this change, who joins after has one behind it.
    if (kind === 'agent.keyed' && agentId !== null) for (const follower of this.#followers) follower.lose(agentId)
    for (const follower of this.#interestedIn(names))
      if (isBefore(follower.place, change)) follower.take(change, audience)
    this.#place = { tx: change.tx, id: change.id }
    // Who joined meanwhile had looked before the agent was there.
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
