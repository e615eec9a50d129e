/** Being told of changes: each message of a followed thread once, in the order of the feed, and only after its commit. */
import { limits } from '../../base/limits.ts'
import { nameKey } from '../../base/names.ts'
import { type FeedRow, findEnd } from '../../store/feed/changes.ts'
import { type FeedPosition, isBefore, start } from '../../store/feed/positions.ts'
import { findNewestMail, listMissed, listThreadEnds } from '../../store/feed/updates.ts'
import { isUnnamed } from '../access/rules.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { type Audience, audienceOf, type Mark, type Target } from './audience.ts'
import { findHubReader, type HubCaller, type HubReader } from './hub-readers.ts'
import { Pump } from './update-fanout.ts'

export type { Mark, Target } from './audience.ts'

/** A resource that is followed, from a place of the feed on. */
interface FollowedResource {
  /** As its follower calls it. */
  readonly uri: string
  readonly target: Target
  readonly from: FeedPosition
  readonly mark: Mark
  /** Whether it was not followed yet when the last update was told. */
  readonly fresh?: boolean | undefined
}

interface Update {
  readonly uri: string
  /** The place of its change, and its number among those that the change brought this follower. */
  readonly place: FeedPosition
  readonly index: number
  /** Whether it stands before the one that was told last. */
  readonly late: boolean
}

export type Told = Pick<Update, 'place' | 'index'>

interface Follow {
  readonly resources: readonly FollowedResource[]
  /** The last update that was told before; what came since is told first. Without it, each from its own beginning. */
  readonly after?: Told | undefined
  tell(update: Update): void
}

const pumps = memory((hub) => new Pump(hub))

/** Where a resource is now: a subscription that begins here is told of what comes next. */
export async function beginFollowing(
  hub: Hub,
  hubCaller: HubCaller,
  target: Target,
): Promise<Pick<FollowedResource, 'from' | 'mark'>> {
  const from = await findEnd(reader(hub))
  return { from, mark: await markOf(hub, hubCaller, target) }
}

/** The update to go on behind: the one that was told last, if there can have been such a one, else everything up to now. */
export async function goOnAfter(hub: Hub, _hubCaller: HubCaller, told?: Told): Promise<Told> {
  const end = await findEnd(reader(hub))
  return told === undefined || isBefore(end, told.place) ? { place: end, index: Number.MAX_SAFE_INTEGER } : told
}

async function markOf(hub: Hub, hubCaller: HubCaller, target: Target): Promise<Mark> {
  if (target.kind === 'agents') return { at: 0 }
  const hubReader = await findHubReader(hub, hubCaller)
  if (hubReader === undefined) return { at: 0 }
  if (target.kind === 'agent')
    return { at: hubReader.agent === undefined ? 0 : await findNewestMail(reader(hub), hubReader.agent.id) }
  const ends = await listThreadEnds(reader(hub), target.thread)
  const own = ends.find(({ project_id }) => project_id === hubReader.project.id) ?? ends[0]
  return own === undefined ? { at: 0 } : { threadId: own.id, at: Number(own.last) }
}

/** Somebody who follows resources. */
export class Follower {
  readonly #hub: Hub
  readonly #hubCaller: HubCaller
  readonly #follow: Follow
  #hubReader: HubReader | undefined
  /** Changes up to here were looked at. */
  position: FeedPosition = start

  constructor(hub: Hub, hubCaller: HubCaller, follow: Follow) {
    this.#hub = hub
    this.#hubCaller = hubCaller
    this.#follow = follow
  }

  /** The names of the threads that it follows. */
  get threads(): string[] {
    return this.#follow.resources.flatMap(({ target }) => (target.kind === 'thread' ? [target.thread] : []))
  }

  /** Whether any change may concern it, and not only those of some threads. */
  get broad(): boolean {
    return this.#follow.resources.some(({ target }) => target.kind !== 'thread')
  }

  get agentId(): number | undefined {
    return this.#follow.resources.some(({ target }) => target.kind === 'agent') ? this.#hubReader?.agent?.id : undefined
  }

  get projectId(): number | undefined {
    return this.#follow.resources.some(({ target }) => target.kind === 'agents')
      ? this.#hubReader?.project.id
      : undefined
  }

  /** Whether an agent of this name would make somebody of one who was nobody yet. */
  awaits(name: string): boolean {
    return (
      this.#hubReader?.agent === undefined &&
      this.#hubCaller.name !== undefined &&
      nameKey(this.#hubCaller.name) === nameKey(name)
    )
  }

  /** An agent that was given a key is its owner's: who only names it is told nothing more of it. */
  lose(agentId: number): void {
    if (isUnnamed(this.#hubCaller.caller) && this.#hubReader?.agent?.id === agentId) this.#hubReader = undefined
  }

  /** Finds the agent of the caller; without one, nothing is told (hub.updates.silent). */
  async look(): Promise<void> {
    this.#hubReader = await findHubReader(this.#hub, this.#hubCaller)
  }

  take(change: FeedRow, audience: Audience | undefined): void {
    this.position = { tx: change.tx, id: change.id }
    const hubReader = this.#hubReader
    if (audience === undefined || hubReader === undefined) return
    const { resources, after, tell } = this.#follow
    let index = -1
    for (const { uri, target, from, mark, fresh = false } of resources) {
      if (!isBefore(from, change) || !audience.concerns(target, hubReader, mark)) continue
      index++
      const late =
        after !== undefined && !isBefore(after.place, change) && (isBefore(change, after.place) || index <= after.index)
      if (!late || fresh) tell({ uri, place: this.position, index, late })
    }
  }

  /** The changes committed since the last update, up to `upTo`: the newest thousand of a day (hub.updates.kept). */
  async catchUp(upTo: FeedPosition): Promise<void> {
    const { resources, after } = this.#follow
    const earlier = (one: FeedPosition, other: FeedPosition) => (isBefore(other, one) ? other : one)
    const own = resources.filter(({ fresh }) => after === undefined || fresh).map(({ from }) => from)
    // The change itself again: it may have brought more than the update that was told last.
    const last = after === undefined ? upTo : { tx: after.place.tx, id: after.place.id - 1 }
    const first = own.reduce(earlier, last)
    const begin = isBefore(first, this.position) ? this.position : first
    if (!isBefore(begin, upTo)) return this.#reach(upTo)
    const ends = await Promise.all(this.threads.map((key) => listThreadEnds(reader(this.#hub), key)))
    const rows = await listMissed(longReader(this.#hub), {
      after: begin,
      upTo,
      since: this.#hub.clock.now() - limits.updatesKeptMs,
      threadIds: ends.flat().map(({ id }) => id),
      agentId: this.agentId,
      projectId: this.projectId,
      limit: limits.updatesKept,
    })
    for (const row of rows) this.take(row, await audienceOf(this.#hub, row))
    this.#reach(upTo)
  }

  #reach(position: FeedPosition): void {
    if (isBefore(this.position, position)) this.position = position
  }
}

/** Tells a follower of what it missed, and then of each change as it is committed, until the returned function is called. */
export async function followUpdates(hub: Hub, hubCaller: HubCaller, follow: Follow): Promise<() => void> {
  const follower = new Follower(hub, hubCaller, follow)
  return pumps(hub).join(follower)
}
