/** Mail that arrives: each message goes to one of the clients that share a key, and each event is told once. */
import { type Clock, latestTime } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { type ConnectionEvent, connectionEvent, type UnreadMessage } from './answers.ts'
import type { News } from './news.ts'
import { Recent } from './recent.ts'
import type { Server } from './server.ts'
import { answerLength } from './texts.ts'

export interface Arrived {
  readonly messages: readonly UnreadMessage[]
  readonly more: boolean
  readonly connections: readonly ConnectionEvent[]
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
  #events: ConnectionEvent[] = []

  constructor(parts: { server: Server; news: News; clock: Clock; connected: () => boolean }) {
    this.#server = parts.server
    this.#news = parts.news
    this.#clock = parts.clock
    this.#connected = parts.connected
  }

  /** An event of the socket; one that arrives twice is told once. */
  note(event: unknown): void {
    const { data } = connectionEvent.safeParse(event)
    if (data !== undefined && this.#seen.add(`${data.type} ${data.connection_id}`))
      this.#events = [...this.#events, data].slice(-mostEvents)
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
      if (left <= 0 || signals.some((signal) => signal.aborted)) return { messages: [], more: false, connections: [] }
      await this.#news.after(seen, Math.min(left, this.#connected() ? latestTime : lookMs), signals)
    }
  }

  /** Those whose answer never reached the model can come again, once the claim has lapsed. */
  putBack({ messages, connections }: Arrived): void {
    for (const { message_id } of messages) this.#seen.delete(message_id)
    this.#events = [...connections, ...this.#events]
  }

  async #look(): Promise<Arrived | undefined> {
    const messages: UnreadMessage[] = []
    const more = await this.#claimInto(messages).catch((error: unknown) => {
      // What is claimed by now is handed out first.
      if (messages.length > 0) return true
      throw error
    })
    const connections = this.#events
    this.#events = []
    return messages.length + connections.length === 0 ? undefined : { messages, more, connections }
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
