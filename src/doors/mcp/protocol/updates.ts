/** The updates of one client that keeps a session: what it follows, how far it was told, and the way to tell it more. */
import type { CallContext, Followed, Following, Updates } from '../table.ts'

/** The updates of a door for one client. */
interface OwnUpdates {
  begin(uri: string): Promise<string>
  place(last?: string): Promise<string>
  follow(followed: readonly Followed[], how: Following): Promise<() => void>
}

export const updatesFor = <Scope>(
  updates: Updates<Scope>,
  context: Pick<CallContext<Scope>, 'caller' | 'scope'>,
): OwnUpdates => ({
  begin: (uri) => updates.begin(uri, context),
  place: (last) => updates.place(context, last),
  follow: (followed, how) => updates.follow(followed, context, how),
})

/** The resources that a session follows, kept where every process that serves it looks. */
export interface FollowedList {
  list(): Promise<readonly Followed[]>
  add(followed: Followed): Promise<void>
  remove(uri: string): Promise<void>
}

/** A client that cannot come back keeps its list in memory. */
export function listInMemory(): FollowedList {
  const all = new Map<string, Followed>()
  return {
    list: async () => [...all.values()],
    async add(followed) {
      if (!all.has(followed.uri)) all.set(followed.uri, followed)
    },
    async remove(uri) {
      all.delete(uri)
    },
  }
}

/** More than any client needs, and little enough that one client cannot fill the memory. */
export const maxFollowed = 1000

/** Writes an update with the place by which a client goes on behind it; false if nobody is there to read it. */
export type Send = (text: string, place: string) => boolean

interface Parts {
  readonly updates: OwnUpdates
  readonly followed: FollowedList
  /** Told of what goes wrong behind the back of a client. */
  failed(error: unknown): void
}

/**
 *   closed ── open ──▶ telling: from the last update told on, so that nothing is told twice or left out
 *   telling ── the list changes ──▶ telling, anew from the last update told
 *   telling ── close ──▶ closed; it remembers how far it told
 */
export class SessionUpdates {
  readonly #parts: Parts
  #send: Send | undefined
  #stop: (() => void) | undefined
  /** The place of the last update that was told; undefined while there was none. */
  #told: string | undefined
  /** The resources that were followed when it was: another process may have added one that this one hears of later. */
  #known: ReadonlySet<string> | undefined
  /** One step after the other. */
  #steps: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** False when the client already follows as much as it may. */
  async subscribe(uri: string): Promise<boolean> {
    const { updates, followed } = this.#parts
    const all = await followed.list()
    if (all.some((one) => one.uri === uri)) return true
    if (all.length >= maxFollowed) return false
    await followed.add({ uri, since: await updates.begin(uri) })
    await this.refresh()
    return true
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.#parts.followed.remove(uri)
    await this.refresh()
  }

  /**
   * Begins to tell. A client that comes back names the update it got last; one that cannot have been told any more is told
   * nothing of before (hub.updates.unknown-id). `begun` gets the place to go on from, once what was missed is told.
   */
  open(send: Send, { last, begun }: { last?: string | undefined; begun?(place: string): void } = {}): Promise<void> {
    const { updates } = this.#parts
    return this.#step(async () => {
      if (last !== undefined) [this.#told, this.#known] = [await updates.place(last), undefined]
      const now = await updates.place()
      this.#send = send
      await this.#restart()
      begun?.(this.#told ?? now)
    })
  }

  close(): void {
    this.#send = undefined
    this.#stop?.()
    this.#stop = undefined
  }

  /** The list has changed, here or in another process. */
  refresh(): Promise<void> {
    return this.#step(() => this.#restart())
  }

  #step(work: () => Promise<void>): Promise<void> {
    const done = this.#steps.then(work)
    this.#steps = done.catch(this.#parts.failed)
    return done
  }

  async #restart(): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    if (this.#send === undefined) return
    const { updates, followed } = this.#parts
    const watched = await followed.list()
    if (watched.length === 0) return
    const uris = watched.map(({ uri }) => uri)
    const known = this.#known ?? new Set(uris)
    const stop = await updates.follow(watched, {
      after: this.#told,
      fresh: new Set(uris.filter((uri) => !known.has(uri))),
      tell: ({ uri, place: own, late = false }) => {
        // A client that resumes after a late event has the earlier ones already.
        const place = late ? (this.#told ?? own) : own
        if (this.#send?.(updated(uri), place)) this.#told = place
      },
    })
    this.#known = new Set(uris)
    if (this.#send === undefined) stop()
    else this.#stop = stop
  }
}

/** The notification that a resource has changed. Of one with many followers most of it is written once. */
const updated = (uri: string): string => `${headOf(uri)}}}`

/** The same with a `_meta` that is already text. */
export const updatedWith = (uri: string, meta: string): string => `${headOf(uri)},"_meta":${meta}}}`

let last = { uri: '', head: '' }

function headOf(uri: string): string {
  if (last.uri !== uri)
    last = {
      uri,
      head: `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":${JSON.stringify(uri)}`,
    }
  return last.head
}
