/** Mail that arrives: each message goes to one of the clients that share a key, and each event is told once. */
import { type Clock, latestTime } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { type ApprovedConnection, connectionEvent, type PendingConnection, type UnreadMessage } from './answers.ts'
import type { News } from './news.ts'
import { Recent } from './recent.ts'
import type { Server } from './server.ts'
import { answerLength } from './texts.ts'

export interface Arrived {
  readonly messages: readonly UnreadMessage[]
  readonly more: boolean
  /** Requests that wait for an answer, and own ones that were approved. */
  readonly requests: readonly PendingConnection[]
  readonly approved: readonly ApprovedConnection[]
}

export interface Waiting {
  readonly ms: number
  readonly signals: readonly AbortSignal[]
}

/** Without a WebSocket (some proxies carry none) the server is asked this often. */
const lookMs = 5000

/** More connection events than that wait for nobody: `mailbox_check` shows the requests too. */
const mostEvents = 100

export class Arrivals {
  readonly #server: Server
  readonly #news: News
  readonly #clock: Clock
  readonly #connected: () => boolean
  /** Those that this process has handed out, and those of connections that it was told of. */
  readonly #seen = new Recent()
  /** The ids of requests that there were events of: what they ask, and whether they still wait, the server is asked. */
  readonly #asked = new Set<string>()
  #approved: ApprovedConnection[] = []

  constructor(parts: { server: Server; news: News; clock: Clock; connected: () => boolean }) {
    this.#server = parts.server
    this.#news = parts.news
    this.#clock = parts.clock
    this.#connected = parts.connected
  }

  /** An event of the socket; one that arrives twice is told once. */
  note(event: unknown): void {
    const { data } = connectionEvent.safeParse(event)
    if (data?.type === 'connection_request') {
      const [oldest] = this.#asked.add(data.connection_id)
      if (this.#asked.size > mostEvents && oldest !== undefined) this.#asked.delete(oldest)
    } else if (data !== undefined && this.#seen.add(`${data.type} ${data.connection_id}`))
      this.#approved = [...this.#approved, data].slice(-mostEvents)
    this.#news.tell()
  }

  async wait({ ms, signals }: Waiting): Promise<Arrived> {
    const deadline = this.#clock.monotonic() + ms
    let first = true
    for (;;) {
      const seen = this.#news.count
      const look = await this.#look().catch((error: unknown) => {
        // A server that goes away meanwhile may be back before the time is up.
        if (first || this.#clock.monotonic() >= deadline || !(error instanceof HubError)) throw error
        return undefined
      })
      first = false
      if (look !== undefined) return look
      const left = deadline - this.#clock.monotonic()
      if (left <= 0 || signals.some((signal) => signal.aborted))
        return { messages: [], more: false, requests: [], approved: [] }
      await this.#news.after(seen, Math.min(left, this.#connected() ? latestTime : lookMs), signals)
    }
  }

  /** Those whose answer never reached the model can come again, once the claim has lapsed. */
  putBack({ messages, requests, approved }: Arrived): void {
    for (const { message_id } of messages) this.#seen.delete(message_id)
    for (const request of requests) {
      this.#seen.delete(seenRequest(request))
      this.#asked.add(request.connection_id)
    }
    this.#approved = [...approved, ...this.#approved]
  }

  async #look(): Promise<Arrived | undefined> {
    const messages: UnreadMessage[] = []
    // What is claimed by now is handed out first, whatever fails afterwards.
    const more = await this.#claimInto(messages).catch((error: unknown) => {
      if (messages.length > 0) return true
      throw error
    })
    const requests = await this.#takeRequests().catch((error: unknown) => {
      if (messages.length > 0) return []
      throw error
    })
    const approved = this.#approved
    this.#approved = []
    if (messages.length + requests.length + approved.length === 0) return undefined
    return { messages, more, requests, approved }
  }

  /** An event may be old: only requests that still wait are told, each once until it is made anew. */
  async #takeRequests(): Promise<PendingConnection[]> {
    if (this.#asked.size === 0) return []
    // Emptied before the server is asked: an event that comes meanwhile is looked at next time.
    const asked = new Set(this.#asked)
    this.#asked.clear()
    const { pending_connections: pending } = await this.#server.pending().catch((error: unknown) => {
      for (const id of asked) this.#asked.add(id)
      throw error
    })
    return pending.filter((request) => asked.has(request.connection_id) && this.#seen.add(seenRequest(request)))
  }

  /** Claims what nobody has, as much as an answer has room for; true if there is more. */
  async #claimInto(messages: UnreadMessage[]): Promise<boolean> {
    let length = 0
    for await (const message of this.#server.unread()) {
      const id = message.message_id
      if (this.#seen.has(id)) continue
      if (messages.length > 0 && length + message.content.length > answerLength / 2) return true
      // Before it is asked for: another call of this process would be let have it too.
      this.#seen.add(id)
      const claim = await this.#server.claim(id).catch((error: unknown) => {
        this.#seen.delete(id)
        throw error
      })
      if (claim === undefined) {
        this.#seen.delete(id)
        continue
      }
      messages.push(message)
      length += message.content.length
    }
    return false
  }
}

/** A request that is made again, or is given a code, has the same id and another time. */
const seenRequest = ({ connection_id, created_at }: PendingConnection): string => `${connection_id} ${created_at}`
