/** New mail: each message goes to one of the clients that share a key, and each connection event is reported once. */
import { z } from 'zod'
import { type Clock, latestTime } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import type { PendingRequest, UnreadMessage } from '../words/post.ts'
import { Recent } from './recent.ts'
import type { Server } from './server.ts'
import { answerLength } from './texts.ts'

const connectionEvent = z.discriminatedUnion('type', [
  // The server is asked for the request itself, and whether it is still open.
  z.object({ type: z.literal('connection_request'), connection_id: z.string() }),
  z.object({ type: z.literal('connection_approved'), connection_id: z.string(), connected_agent: z.string() }),
])

export type Approval = Extract<z.output<typeof connectionEvent>, { type: 'connection_approved' }>

export interface Arrived {
  readonly messages: readonly UnreadMessage[]
  readonly more: boolean
  readonly requests: readonly PendingRequest[]
  /** Own requests that were approved. */
  readonly approved: readonly Approval[]
}

/** Without a WebSocket (some proxies carry none) the server is asked this often. */
const pollMs = 5000

/** Older connection events are dropped: `mailbox_check` shows the requests too. */
const maxEvents = 100

export class Arrivals {
  readonly #server: Server
  readonly #clock: Clock
  readonly #connected: () => boolean
  /** Messages that this process handed out, and connection events that it reported. */
  readonly #reported = new Recent()
  /** Requests of which an event came: the server is asked whether they are still open. */
  readonly #requestIds = new Set<string>()
  #approved: Approval[] = []
  #events = 0
  readonly #waiting = new Set<() => void>()

  constructor(parts: { server: Server; clock: Clock; connected: () => boolean }) {
    this.#server = parts.server
    this.#clock = parts.clock
    this.#connected = parts.connected
  }

  /** An event of the socket, or undefined after it was opened anew. */
  note(event: unknown): void {
    const { data } = connectionEvent.safeParse(event)
    if (data?.type === 'connection_request') {
      const [oldest] = this.#requestIds.add(data.connection_id)
      if (this.#requestIds.size > maxEvents && oldest !== undefined) this.#requestIds.delete(oldest)
    } else if (data !== undefined && this.#reported.add(`${data.type} ${data.connection_id}`))
      this.#approved = [...this.#approved, data].slice(-maxEvents)
    this.#events++
    for (const wake of [...this.#waiting]) wake()
  }

  async wait({ ms, signals }: { ms: number; signals: readonly AbortSignal[] }): Promise<Arrived> {
    const deadline = this.#clock.monotonic() + ms
    let first = true
    for (;;) {
      // Read before the look: an event that comes during the look is then not missed.
      const events = this.#events
      const look = await this.#look().catch((error: unknown) => {
        // A server that goes away meanwhile may be back before the deadline.
        if (first || this.#clock.monotonic() >= deadline || !(error instanceof HubError)) throw error
        return undefined
      })
      first = false
      if (look !== undefined) return look
      const left = deadline - this.#clock.monotonic()
      if (left <= 0 || signals.some((signal) => signal.aborted))
        return { messages: [], more: false, requests: [], approved: [] }
      if (events === this.#events)
        await this.#eventWithin(Math.min(left, this.#connected() ? latestTime : pollMs), signals)
    }
  }

  #eventWithin(ms: number, signals: readonly AbortSignal[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#clock.after(Math.max(1, ms), resolve)
    this.#waiting.add(resolve)
    for (const signal of signals) signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(() => {
      cancel()
      this.#waiting.delete(resolve)
    })
  }

  /** The answer never reached the model: its messages can come again once their claims have lapsed. */
  putBack({ messages, requests, approved }: Arrived): void {
    for (const { message_id } of messages) this.#reported.delete(message_id)
    for (const request of requests) {
      this.#reported.delete(requestKey(request))
      this.#requestIds.add(request.connection_id)
    }
    this.#approved = [...approved, ...this.#approved]
  }

  async #look(): Promise<Arrived | undefined> {
    const messages: UnreadMessage[] = []
    // Messages that are claimed are handed out, whatever fails after that.
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

  /** An event may be old: only requests that are still open are reported, each once until it is made anew. */
  async #takeRequests(): Promise<PendingRequest[]> {
    if (this.#requestIds.size === 0) return []
    // Emptied before the server is asked: an event that comes meanwhile is looked at next time.
    const ids = new Set(this.#requestIds)
    this.#requestIds.clear()
    const { pending_connections: pending } = await this.#server.pending().catch((error: unknown) => {
      for (const id of ids) this.#requestIds.add(id)
      throw error
    })
    return pending.filter((request) => ids.has(request.connection_id) && this.#reported.add(requestKey(request)))
  }

  /** Claims as many unread messages as an answer has room for; true if there are more. */
  async #claimInto(messages: UnreadMessage[]): Promise<boolean> {
    let length = 0
    for await (const message of this.#server.unread()) {
      const id = message.message_id
      if (this.#reported.has(id)) continue
      if (messages.length > 0 && length + message.content.length > answerLength / 2) return true
      // Added before the claim: another call of this process would be granted the same claim.
      this.#reported.add(id)
      const claim = await this.#server.claim(id).catch((error: unknown) => {
        this.#reported.delete(id)
        throw error
      })
      if (claim === undefined) {
        this.#reported.delete(id)
        continue
      }
      messages.push(message)
      length += message.content.length
    }
    return false
  }
}

/** A request that is made again, or is given a code, has the same id and another time. */
const requestKey = ({ connection_id, created_at }: PendingRequest): string => `${connection_id} ${created_at}`
