/** Page events: they tell open pages that something changed in a project, a thread or with an agent, and never what was written. */
import { can } from '../../db/dialect.ts'
import { findLastChange, findMarkedEnd } from '../../store/feed/changes.ts'
import type { FeedPosition } from '../../store/feed/positions.ts'
import {
  listEventBlind,
  listEventGuests,
  listEventPlaces,
  listEvents,
  listEventsSince,
  listTopicUids,
  type PageEventRow,
} from '../../store/pages/page-events.ts'
import { isListed, isToldOf, type MessageFacts, type Sight } from '../../store/visibility.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { mailChannel, needAgent } from '../agents/agents.ts'
import { readPlace, writePlace } from '../feed/position-tokens.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keepLooking, type Loop, type Next, type Occasion } from '../hub/keep-looking.ts'
import { memory } from '../hub/memory.ts'
import { slugOfProject } from '../projects/projects.ts'
import { findFollowed } from './follow-mail.ts'

export interface PageEvent {
  /** Its place in the feed. */
  readonly id: number
  readonly kind: string
  readonly project: string | undefined
  /** The name of the thread in a URL. */
  readonly threadId: string | undefined
  readonly messageId: number | undefined
}

interface PageEventFilter {
  readonly project?: string | undefined
  readonly thread?: string | undefined
  readonly agent?: string | undefined
  /** The id of the last event that the listener got. */
  readonly after?: number | undefined
  /** A place found before the listener read what it shows: what changed since then is told. */
  readonly since?: string | undefined
}

/** An event with the ids that filters ask for. */
interface Placed {
  readonly event: PageEvent
  readonly projects: ReadonlySet<number>
  readonly threadId: number | undefined
  /** The change as a message: of the agent that made it, to those whom it woke. */
  readonly facts: MessageFacts
}

interface Listener {
  readonly fits: (placed: Placed) => boolean
  readonly tell: (event: PageEvent) => void
  /** When it may be told again, and what it is told then. */
  nextAt: number
  late: PageEvent | undefined
}

/** A page asks for itself at most twice a second: more events would only cost the server. */
const quietMs = 200
/** While changes keep coming, the more pages there are the less often each is told; those that ask again take turns (doors/web/refreshes.ts). */
const shareMs = 100
const longestPauseMs = 1000
/** Between two looks at the feed, while changes keep coming. */
const pauseMs = 20
/** On PostgreSQL ids become visible out of order, by as many as there are writers at once. */
const lookBack = 100
const pageSize = 500

const listeners = memory((hub) => new Listeners(hub))

/** Calls `tell` for every change that fits and that the caller may know of, until the returned function is called. */
export async function followPageEvents(
  hub: Hub,
  caller: Caller,
  { project, thread, agent, after, since, tell }: PageEventFilter & { readonly tell: (event: PageEvent) => void },
): Promise<() => void> {
  const { home, threads } = await findFollowed(hub, caller, { project, thread })
  const who = home === undefined || agent === undefined ? undefined : await needAgent(hub, caller, home.slug, agent)
  const sight = pageSight(caller)
  const fits = (placed: Placed): boolean => {
    const { projects, threadId, facts } = placed
    if (!isListed(sight, facts) || !isTold(sight, facts, facts.sender.id)) return false
    if (threads !== undefined) return threadId !== undefined && threads.has(threadId)
    if (who !== undefined) return hasPart(facts, who.id) && isTold(sight, facts, who.id)
    return home === undefined || projects.has(home.id)
  }
  return listeners(hub).add({ fits, tell, nextAt: 0, late: undefined }, after ?? readPlace(since))
}

const hasPart = ({ sender, recipients }: MessageFacts, agentId: number): boolean =>
  sender.id === agentId || recipients.some(({ id }) => id === agentId)

/** Whether the part of an agent in a change may be told of: it may be a blind copy. */
const isTold = (sight: Sight, { sender, recipients }: MessageFacts, agentId: number): boolean =>
  recipients.every(({ id, kind }) => id !== agentId || isToldOf(sight, { kind, recipientId: id, senderId: sender.id }))

/** The end of the feed: a page finds it, reads what it shows, and follows the events since then. `mark` is the same while nothing changes. */
export async function findEventPosition(
  hub: Hub,
  _caller: Caller,
): Promise<{ readonly since: string; readonly mark: string }> {
  const { mark, ...place } = await findMarkedEnd(reader(hub))
  return { since: writePlace(place), mark }
}

/** One reader of the feed for all listeners of this process; it reads while there are any. */
class Listeners {
  readonly #hub: Hub
  readonly #all = new Set<Listener>()
  #seen = new Set<number>()
  #last = 0
  #begun: Promise<void> | undefined
  #loop: Loop | undefined
  /** Settled when the last loop has ended. */
  #rested: Promise<void> = Promise.resolve()
  /** Whether the feed may have more than was read. */
  #unread = false

  constructor(hub: Hub) {
    this.#hub = hub
  }

  async add(listener: Listener, after: number | FeedPosition | undefined): Promise<() => void> {
    this.#all.add(listener)
    try {
      this.#begun ??= this.#begin()
      await this.#begun
      if (after !== undefined) await this.#catchUp(listener, after)
    } catch (error) {
      this.#remove(listener)
      throw error
    }
    return () => this.#remove(listener)
  }

  async #begin(): Promise<void> {
    await this.#rested
    // Listen before asking: what is committed in between is then not missed.
    this.#loop = keepLooking(this.#hub, {
      channels: '',
      gatherMs: 0,
      apartMs: pauseMs,
      backOff: { firstMs: 250, longestMs: 10_000, wakesShorten: true },
      failure: 'open pages were not told of a change; it is tried again',
      look: (occasion) => this.#look(occasion),
    })
    const db = reader(this.#hub)
    this.#last = await findLastChange(db)
    const rows = await listEvents(db, this.#last - lookBack, lookBack)
    this.#seen = new Set(rows.flatMap(({ id }) => (id <= this.#last ? [id] : [])))
  }

  #remove(listener: Listener): void {
    this.#all.delete(listener)
    if (this.#all.size > 0) return
    this.#rested = this.#loop?.stop() ?? this.#rested
    this.#loop = undefined
    this.#begun = undefined
  }

  /** Tells the newest change that came while the listener was away; where there were too many to look through, only that some came. */
  async #catchUp(listener: Listener, after: number | FeedPosition): Promise<void> {
    const db = reader(this.#hub)
    // A lower id may have become visible after the one that was told.
    const back = can(db).concurrentWriters ? lookBack : 0
    const rows = await (typeof after === 'number'
      ? listEvents(db, after - back, pageSize)
      : listEventsSince(db, after, pageSize))
    const found = (await place(this.#hub, rows)).findLast(listener.fits)
    if (rows.length === pageSize) listener.tell({ ...nothing, id: await findLastChange(db) })
    else if (found !== undefined) listener.tell(found.event)
  }

  async #look({ woken, missed }: Occasion): Promise<Next> {
    await this.#begun
    // Wakes may have been lost: every page looks.
    if (missed) for (const listener of this.#all) listener.tell({ ...nothing, id: this.#last })
    this.#unread ||= woken
    this.#spread(this.#unread ? await this.#read() : [])
    return this.#unread ? { inMs: pauseMs } : this.#untilLate()
  }

  async #read(): Promise<Placed[]> {
    const rows = await listEvents(reader(this.#hub), Math.max(0, this.#last - lookBack), pageSize)
    const placed = await place(
      this.#hub,
      rows.filter(({ id }) => !this.#seen.has(id)),
    )
    for (const { id } of rows) this.#seen.add(id)
    this.#last = Math.max(this.#last, rows.at(-1)?.id ?? 0)
    for (const id of this.#seen) if (id <= this.#last - 2 * lookBack) this.#seen.delete(id)
    this.#unread = rows.length === pageSize
    return placed
  }

  /** Until somebody may be told again of what came too early for it. */
  #untilLate(): Next {
    const times = [...this.#all].flatMap(({ late, nextAt }) => (late === undefined ? [] : [nextAt]))
    if (times.length === 0) return 'rest'
    return { inMs: Math.max(1, Math.min(...times) - this.#hub.clock.monotonic()) }
  }

  #spread(placed: readonly Placed[]): void {
    const now = this.#hub.clock.monotonic()
    let busy = 0
    const due: (readonly [Listener, PageEvent])[] = []
    for (const listener of this.#all) {
      const found = placed.findLast(listener.fits)
      if (found !== undefined) listener.late = found.event
      if (listener.late !== undefined || now < listener.nextAt) busy++
      if (listener.late !== undefined && now >= listener.nextAt) due.push([listener, listener.late])
    }
    const pause = Math.min(longestPauseMs, Math.max(quietMs, busy * shareMs))
    for (const [listener, event] of due) {
      listener.nextAt = now + pause
      listener.late = undefined
      listener.tell(event)
    }
  }
}

const nothing = { kind: 'changed', project: undefined, threadId: undefined, messageId: undefined }

async function place(hub: Hub, rows: readonly PageEventRow[]): Promise<Placed[]> {
  if (rows.length === 0) return []
  const ids = rows.flatMap(({ message_id }) => message_id ?? [])
  const places = new Map((await listEventPlaces(reader(hub), ids)).map((row) => [row.message_id, row]))
  const guests = Map.groupBy(await listEventGuests(reader(hub), ids), ({ message_id }) => message_id)
  const blind = Map.groupBy(await listEventBlind(reader(hub), ids), ({ message_id }) => message_id)
  const bare = rows.flatMap(({ thread_id, message_id }) =>
    message_id === null && thread_id !== null ? [thread_id] : [],
  )
  const uids = new Map(
    bare.length === 0 ? [] : (await listTopicUids(reader(hub), bare)).map(({ id, uid }) => [id, uid]),
  )
  const placed: Placed[] = []
  for (const row of rows) {
    const found = places.get(row.message_id ?? 0)
    const projectId = found?.project_id ?? row.project_id ?? undefined
    const threadId = found?.thread_id ?? row.thread_id ?? undefined
    const others = (guests.get(row.message_id ?? 0) ?? []).map(({ project_id }) => project_id)
    const topic = found === undefined ? row.kind.startsWith('topic.') : found.topic === 1
    const hidden = new Set((blind.get(row.message_id ?? 0) ?? []).map(({ agent_id }) => agent_id))
    placed.push({
      event: {
        id: row.id,
        kind: row.kind,
        project: projectId === undefined ? undefined : await slugOfProject(hub, projectId),
        threadId: found?.thread ?? (threadId === undefined ? undefined : uids.get(threadId)),
        messageId: row.message_id ?? undefined,
      },
      projects: new Set([projectId, row.project_id, ...others].filter((id) => typeof id === 'number')),
      threadId,
      facts: {
        topic,
        projectId,
        sender: { id: row.agent_id ?? 0 },
        // The recipient of a blind copy tells of it by whatever it does with the message.
        recipients: [...recipientsIn(row.wakes), ...[...hidden].filter((id) => id === row.agent_id)].map((id) => ({
          id,
          kind: hidden.has(id) ? 'bcc' : 'to',
        })),
      },
    })
  }
  return placed
}

const channel = mailChannel(0).slice(0, -1)

const recipientsIn = (wakes: string): number[] =>
  wakes.split(' ').flatMap((one) => (one.startsWith(channel) ? [Number(one.slice(channel.length))] : []))
