/** Reads the feed for all followers of this process: one look at a change, however many are told of it. */
import { findEnd, hasChangesAfter } from '../../store/changes.ts'
import { isBefore, type Place, start } from '../../store/places.ts'
import { listNews, type NewsRow } from '../../store/updates.ts'
import { type Hub, onWake, reader } from '../hub/hub.ts'
import { audienceOf, nameOfAgent, namesOf } from './audience.ts'
import type { Follower } from './updates.ts'

const page = 200

/** Changes that an older open transaction may still come before are looked for again: soon at first, then less often. */
const firstPauseMs = 1
const longestPauseMs = 250

/** A process that dies right after its commit announces nothing. */
const anywayMs = 10_000

/**
 *   still    ── the first follower joins ──▶ looking
 *   looking  ── nothing left ──▶ idle
 *   looking  ── changes that are not settled, or a fault ──▶ idle, with a short timer
 *   idle     ── wake-up or timer ──▶ looking
 *   any      ── the last follower leaves ──▶ still
 */
export class Pump {
  readonly #hub: Hub
  readonly #followers = new Set<Follower>()
  /** Followers by the names of the threads they follow; those that follow more are asked about every change. */
  readonly #byThread = new Map<string, Set<Follower>>()
  readonly #broad = new Set<Follower>()
  #joining = 0
  #begun: Promise<void> | undefined
  #place: Place = start
  #unwake: (() => void) | undefined
  #cancel = () => {}
  #looking = false
  #woken = false
  #hidden = 0

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
    // Listen before asking: what is committed in between is then not missed.
    const wake = () => this.#wake()
    this.#unwake = onWake(this.#hub, '', wake, wake)
    this.#place = await findEnd(reader(this.#hub))
    this.#lookIn(anywayMs)
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
    this.#unwake?.()
    this.#unwake = undefined
    this.#begun = undefined
    this.#cancel()
  }

  #wake(): void {
    this.#woken = true
    if (!this.#looking) void this.#look()
  }

  #lookIn(ms: number): void {
    this.#cancel()
    if (this.#unwake !== undefined) this.#cancel = this.#hub.clock.after(ms, () => this.#wake())
  }

  /** Never rejects: it is tried again. */
  async #look(): Promise<void> {
    this.#looking = true
    try {
      await this.#begun
      do {
        this.#woken = false
        await this.#readOn()
      } while (this.#woken && this.#unwake !== undefined)
      const hidden = this.#unwake !== undefined && (await hasChangesAfter(reader(this.#hub), this.#place))
      this.#hidden = hidden ? this.#hidden + 1 : 0
    } catch (error) {
      this.#hidden++
      this.#hub.log.warn({ err: error }, 'the feed could not be read for subscribers; it is tried again')
    }
    this.#looking = false
    if (this.#woken && this.#unwake !== undefined) this.#wake()
    else this.#lookIn(this.#hidden === 0 ? anywayMs : Math.min(longestPauseMs, firstPauseMs * 2 ** this.#hidden))
  }

  async #readOn(): Promise<void> {
    for (let all = false; !all && this.#unwake !== undefined; ) {
      const news = await listNews(reader(this.#hub), this.#place, page)
      all = news.all
      for (const change of news.rows) await this.#hand(change)
    }
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
