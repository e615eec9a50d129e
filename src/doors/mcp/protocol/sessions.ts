/** Sessions of clients before 2026-07-28: a signed token that any process honours, and the memory of this process for it. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../base/clock.ts'
import type { Ids } from '../../../base/ids.ts'
import type { Caller } from '../../../core/access/callers.ts'
import { Conversation } from './conversation.ts'
import type { ClientInfo } from './exchange.ts'
import { createSeal } from './signed-text.ts'
import { endStream, event, numberedEvent, writeEvent } from './streams.ts'
import { type FollowedList, listInMemory, type Send } from './updates.ts'

/** The content of a token, proved by its signature (all.sessions.anywhere). */
export interface Claims {
  readonly door: string
  /** The path the session belongs to, the same for every way to write it. */
  readonly path: string
  readonly caller: string
  readonly client: ClientInfo
  /** When it was issued. */
  readonly at: number
  readonly nonce: string
}

/** Sessions that were ended are remembered where every process looks. */
export interface EndedSessions {
  has(nonce: string): Promise<boolean>
  add(caller: Caller, nonce: string, until: number): Promise<void>
  /** Tells which sessions are ended from now on, by this process or another; undefined if it may have missed some. */
  watch(fn: (nonce: string | undefined) => void): () => void
}

export interface SessionOptions {
  /** Signs the tokens; the same for every process that serves one hub. */
  readonly secret: string | Buffer
  readonly ttlMs: number
  /** How long a silent session keeps its memory. */
  readonly idleMs: number
  readonly ended: EndedSessions
  /** Told every few seconds of the sessions that had a stream or a call open since the last time. */
  present?(sessions: readonly Claims[]): void
  /** The resources that sessions follow; in the memory of this process, if left out. */
  readonly followed?: FollowedSessions
}

/** The lists of what sessions follow, where every process looks. */
interface FollowedSessions {
  of(nonce: string, caller: Caller, until: number): FollowedList
  /** Tells which lists have changed, by this process or another; undefined if it may have missed some. */
  watch(fn: (nonce: string | undefined) => void): () => void
}

/** The memory of one process for a token: freed after an idle time, made anew on the next request. */
export class Session {
  readonly claims: Claims
  readonly streams = new Set<ServerResponse>()
  readonly conversation = new Conversation()
  /** Marks the ids of its events as its own, and tells nothing of its token. */
  readonly #tag: string
  usedAt = 0

  constructor(claims: Claims) {
    this.claims = claims
    this.conversation.tell = (text) => {
      const [stream] = this.streams
      if (stream !== undefined) writeEvent(stream, event(text))
    }
    this.#tag = createHash('sha256').update(claims.nonce).digest('base64url').slice(0, 8)
  }

  get idle(): boolean {
    return this.streams.size === 0 && this.conversation.calls.size === 0
  }

  eventId = (place: string): string => `${this.#tag}.${place}`

  /** The place that the id of an event names; an id of another session names none. */
  requestContextOf(eventId: string): string {
    return eventId.startsWith(`${this.#tag}.`) ? eventId.slice(this.#tag.length + 1) : ''
  }

  /** An update goes to one stream of the session, not to all (Streamable HTTP, "Multiple Connections"). */
  send: Send = (text, place) => {
    const [stream] = this.streams
    return stream !== undefined && writeEvent(stream, numberedEvent(text, this.eventId(place)))
  }

  /** Frees everything: streams end, calls are lost, nothing is followed. */
  close(): void {
    for (const stream of this.streams) stream.end()
    this.streams.clear()
    this.conversation.close()
  }
}

export type Sessions = ReturnType<typeof createSessions>

/** Many times the clients of one hub; past it the oldest sessions lose their memory early. */
const maxHeld = 10_000
const maxNames = 100
const beatMs = 5000

export function createSessions({
  clock,
  ids,
  secret,
  ttlMs,
  idleMs,
  ended,
  present,
  followed,
}: SessionOptions & { clock: Clock; ids: Ids }) {
  /** Only a cache: a token that is not here is verified again (2.5 µs) and looked up among the ended ones. */
  const held = new Map<string, Session>()
  /** Ended lately: closes the gap between asking `ended.has` and its answer. */
  const gone = new Set<string>()

  const seal = createSeal<Claims>(secret, 'mcp-session')

  const forget = (nonce: string) => {
    if (gone.size >= maxHeld) gone.clear()
    gone.add(nonce)
    for (const [token, session] of held)
      if (session.claims.nonce === nonce) {
        free(token, session)
      }
  }
  /** Held ones that may have been ended elsewhere without our hearing of it: the next request asks. */
  const doubted = new Set<string>()
  const unwatch = ended.watch((nonce) => {
    if (nonce !== undefined) forget(nonce)
    else for (const token of held.keys()) doubted.add(token)
  })

  const unfollow = followed?.watch((nonce) => {
    for (const { claims, conversation } of held.values())
      if (nonce === undefined || claims.nonce === nonce) void conversation.updates?.refresh().catch(() => {})
  })

  const sweep = () => {
    const before = clock.monotonic() - idleMs
    for (const [token, session] of held) if (session.idle && session.usedAt <= before) free(token, session)
    cancelSweep = clock.after(idleMs, sweep)
  }
  let cancelSweep = clock.after(idleMs, sweep)

  /** Sessions with an open stream or call at the last beat. */
  let there = new Set<Session>()
  let cancelBeat: (() => void) | undefined
  let closed = false
  const beat = () => {
    const since = clock.monotonic() - beatMs
    const active = [...held.values()].filter((one) => !one.idle || one.usedAt >= since)
    present?.([...new Set([...there, ...active])].map(({ claims }) => claims))
    there = new Set(active.filter(({ idle }) => !idle))
    cancelBeat = held.size > 0 ? clock.after(beatMs, beat) : undefined
  }

  const free = (token: string, session: Session) => {
    held.delete(token)
    doubted.delete(token)
    session.close()
  }

  const hold = (token: string, session: Session) => {
    held.set(token, session)
    if (present !== undefined && !closed) cancelBeat ??= clock.after(beatMs, beat)
    if (held.size > maxHeld)
      for (const [oldest, other] of held)
        if (other.idle && other !== session) {
          free(oldest, other)
          break
        }
  }

  const isAlive = (claims: Claims): boolean => claims.at + ttlMs > clock.now()

  return {
    get size(): number {
      return held.size
    },
    issue(claims: Omit<Claims, 'at' | 'nonce'>): string {
      const { name, version, can } = claims.client
      const client = { name: name.slice(0, maxNames), version: version.slice(0, maxNames), can }
      return seal.write({ ...claims, client, at: clock.now(), nonce: ids.token() })
    },

    /** The session if this process holds it already; the way of almost every request. */
    held(token: string): Session | undefined {
      const session = held.get(token)
      if (session === undefined || doubted.has(token) || !isAlive(session.claims)) return undefined
      session.usedAt = clock.monotonic()
      return session
    },

    /** Takes up a session from its token alone, after a restart or on another node too. */
    async resume(token: string): Promise<Session | undefined> {
      const claims = seal.read(token)
      if (claims === undefined || !isAlive(claims)) return undefined
      if ((await ended.has(claims.nonce)) || gone.has(claims.nonce)) {
        forget(claims.nonce)
        return undefined
      }
      doubted.delete(token)
      const session = held.get(token) ?? new Session(claims)
      session.usedAt = clock.monotonic()
      hold(token, session)
      return session
    },

    /** The resources that a session follows. */
    followedBy: ({ claims }: Session, caller: Caller): FollowedList =>
      followed?.of(claims.nonce, caller, claims.at + ttlMs) ?? listInMemory(),

    async end(caller: Caller, { claims }: Session): Promise<void> {
      await ended.add(caller, claims.nonce, claims.at + ttlMs)
      forget(claims.nonce)
    },

    /** Ends every stream and every watch; calls end by themselves, with their answers. */
    close(): void {
      unwatch()
      unfollow?.()
      cancelSweep()
      cancelBeat?.()
      closed = true
      for (const session of held.values()) {
        session.conversation.updates?.close()
        for (const stream of session.streams) endStream(stream)
      }
    },
  }
}
