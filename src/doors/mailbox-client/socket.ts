/** The client's WebSocket: an event means that there may be something new at the server. */
import { type RawData, WebSocket } from 'ws'
import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import { limits } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import { Backoff } from './backoff.ts'

interface SocketOptions {
  /** The URL of the server; that of the WebSocket is made from it. */
  readonly url: string
  readonly key: string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** The socket is open, perhaps again: events were missed while it was closed. */
  opened(): void
  event(event: unknown): void
}

/** Pings keep the connection open at proxies that close idle ones; a server that is silent for longer counts as gone. */
const [pingMs, silenceMs, handshakeMs] = [25_000, 60_000, 10_000]

/**
 *   closed ── connect ──▶ connecting ── open ──▶ open ── pings answered ──▶ open
 *     ▲                       │                    │
 *     └──── back-off ◀────────┴── error, close, ◀──┘
 *                                 a minute of silence
 */
export class Socket {
  readonly #options: SocketOptions
  readonly #backoff: Backoff
  #socket: WebSocket | undefined
  #closed = false
  #cancel = () => {}
  #heardAt = 0
  #warned = false

  constructor(options: SocketOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.ids)
    this.#connect()
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  close(): void {
    this.#closed = true
    this.#cancel()
    this.#socket?.terminate()
  }

  #connect(): void {
    const { url, key, clock } = this.#options
    // The key goes into a header: a URL is kept in the logs of servers and proxies.
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers: { 'X-API-Key': key },
      handshakeTimeout: handshakeMs,
      maxPayload: limits.requestBytes,
      perMessageDeflate: false,
    })
    this.#socket = socket
    const hear = () => {
      this.#heardAt = clock.monotonic()
    }
    socket.on('open', () => this.#opened(socket))
    socket.on('message', (data) => {
      hear()
      this.#read(socket, data)
    })
    socket.on('ping', hear).on('pong', hear)
    socket.on('error', (error) => this.#explain(error.message))
    socket.on('close', (code) => this.#retry(code))
  }

  #opened(socket: WebSocket): void {
    this.#heardAt = this.#options.clock.monotonic()
    this.#backoff.reset()
    this.#warned = false
    this.#options.log.debug('the WebSocket is open')
    this.#beat(socket)
    this.#options.opened()
  }

  #beat(socket: WebSocket): void {
    const { clock } = this.#options
    this.#cancel = clock.after(pingMs, () => {
      if (clock.monotonic() - this.#heardAt > silenceMs) return socket.terminate()
      socket.send('{"type":"ping"}')
      this.#beat(socket)
    })
  }

  #read(socket: WebSocket, data: RawData): void {
    let event: unknown
    try {
      event = JSON.parse(String(data))
    } catch {
      return
    }
    const { type } = (event ?? {}) as { type?: unknown }
    if (type === 'ping') socket.send('{"type":"pong"}')
    else if (type !== 'pong') this.#options.event(event)
  }

  #retry(code: number): void {
    this.#cancel()
    if (this.#closed) return
    if (code === 4001) this.#explain('the server does not know the key in MAILBOX_API_KEY')
    const ms = this.#backoff.next()
    this.#options.log.debug({ code, ms }, 'the WebSocket is closed; it is opened again after a pause')
    this.#cancel = this.#options.clock.after(ms, () => this.#connect())
  }

  /** Warns once until it is open again: a server that is away for a night would fill the log. */
  #explain(why: string): void {
    if (this.#warned || this.#closed) return
    this.#warned = true
    this.#options.log.warn({ server: this.#options.url, why }, 'no WebSocket to the server; it is tried again')
  }
}
