/** The open WebSockets of a process: whose each is, the bytes that wait for it, and when it was last heard of. */
import type { WebSocket } from 'ws'
import { limits } from '../../../base/limits.ts'
import type { Caller } from '../../../core/access/callers.ts'
import { holdsKey } from '../../../core/access/keys.ts'
import type { Acting } from '../../../core/agents/acting.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { followArrivals } from '../../../core/mail/arrivals.ts'
import { type Close, closes, connectionApproved, connectionRequest, newMessage, pong, readSaid } from './events.ts'

export interface SocketTimes {
  /** Silence after which a socket is pinged, and after which it is closed. */
  readonly pingMs: number
  readonly timeoutMs: number
}

/** One socket of an agent. Until its handshake is done, events wait in `early`. */
export interface Link {
  socket: WebSocket | undefined
  readonly early: Buffer[]
  heardAt: number
  pinged: boolean
  /** Ends the watch of its agent. */
  leave: () => void
  /** When the server closed it: a client that does not answer the close is cut off later. */
  closedAt: number | undefined
}

/** Checks of all sockets within the shorter of the two times. */
const checksPerPing = 4
const closeTimeoutMs = 10_000
/** A socket with more waiting bytes counts as slow, and its bytes count into the sum of all. */
const slowBytes = 64 * 1024

export class Sockets {
  readonly #hub: Hub
  readonly #times: SocketTimes
  readonly #links = new Set<Link>()
  readonly #slow = new Set<Link>()
  /** Every socket whose handshake is done; the link is there once its agent is known. */
  readonly #sockets = new Map<WebSocket, Link | undefined>()
  #cancel: (() => void) | undefined
  #emptied: (() => void) | undefined

  constructor(hub: Hub, times: SocketTimes) {
    this.#hub = hub
    this.#times = { pingMs: Math.min(times.pingMs, times.timeoutMs / 2), timeoutMs: times.timeoutMs }
  }

  /** A link that gets every event committed from now on. `hash`: of the key that opened it. */
  async open(acting: Acting, hash: string): Promise<Link> {
    const link: Link = {
      socket: undefined,
      early: [],
      heardAt: this.#hub.clock.monotonic(),
      pinged: false,
      leave: () => {},
      closedAt: undefined,
    }
    link.leave = await followArrivals(this.#hub, acting, {
      arrived: (mail) => this.#send(link, frameOf(mail, newMessage)),
      asked: (request) => this.#send(link, frameOf(request, connectionRequest)),
      approved: (connection) => this.#send(link, frameOf(connection, connectionApproved)),
      keysChanged: () => this.#checkKey(link, acting.caller, hash),
    })
    return link
  }

  #checkKey(link: Link, caller: Caller, hash: string): void {
    holdsKey(this.#hub, caller, hash).then(
      (good) => good || this.#close(link, 'badKey'),
      (error: unknown) => this.#hub.log.warn({ err: error }, 'could not check whether a key is still valid'),
    )
  }

  /** The handshake is done; its agent may be known later. */
  greet(socket: WebSocket): void {
    this.#sockets.set(socket, undefined)
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      const link = this.#sockets.get(socket)
      this.#sockets.delete(socket)
      if (link !== undefined) this.#forget(link)
      if (this.#sockets.size === 0) this.#emptied?.()
    })
  }

  attach(link: Link, socket: WebSocket): void {
    // Its key was revoked during the handshake.
    if (link.closedAt !== undefined) {
      link.leave()
      socket.close(...closes.badKey)
      return
    }
    link.socket = socket
    this.#sockets.set(socket, link)
    this.#links.add(link)
    this.#hub.metrics.sockets.set(this.#links.size)
    this.#cancel ??= this.#hub.clock.after(this.#checkMs, () => this.#checkAll())
    for (const event of link.early.splice(0)) this.#send(link, event)
    socket.on('pong', () => this.#heard(link))
    socket.on('message', (data: Buffer) => this.hear(link, data))
  }

  #heard(link: Link): void {
    link.heardAt = this.#hub.clock.monotonic()
    link.pinged = false
  }

  hear(link: Link, data: Buffer): void {
    this.#heard(link)
    if (readSaid(data)?.type === 'ping') this.#send(link, pong)
  }

  /** A socket that does not read is closed: the mail of its agent stays in the inbox (post.socket.slow). */
  #send(link: Link, event: Buffer): void {
    const { socket } = link
    if (socket === undefined) {
      link.early.push(event)
      return
    }
    if (socket.readyState !== socket.OPEN) return
    const waiting = socket.bufferedAmount
    const { pushes } = this.#hub.metrics
    if (waiting > 0 && waiting + event.length > limits.socketBytes) {
      pushes.labels('websocket', 'lost').inc()
      this.#close(link, 'slow')
      return
    }
    socket.send(event, { binary: false })
    if (event !== pong) pushes.labels('websocket', 'told').inc()
    if (socket.bufferedAmount < slowBytes) return
    this.#slow.add(link)
    this.#closeSlowest()
  }

  /** Over the budget of all sockets, those with the most waiting bytes are closed. */
  #closeSlowest(): void {
    const sizes = new Map<Link, number>()
    for (const link of this.#slow) {
      const bytes = link.socket?.bufferedAmount ?? 0
      if (bytes < slowBytes) this.#slow.delete(link)
      else sizes.set(link, bytes)
    }
    let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
    for (const [link, bytes] of [...sizes].sort(([, a], [, b]) => b - a)) {
      if (total <= limits.socketsBytes) return
      total -= bytes
      this.#close(link, 'slow')
      link.socket?.terminate()
    }
  }

  #close(link: Link, why: Close): void {
    link.leave()
    link.closedAt ??= this.#hub.clock.monotonic()
    const [code, reason] = closes[why]
    link.socket?.close(code, reason)
  }

  #forget(link: Link): void {
    link.leave()
    this.#links.delete(link)
    this.#slow.delete(link)
    this.#hub.metrics.sockets.set(this.#links.size)
    if (this.#links.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  get #checkMs(): number {
    return Math.max(50, this.#times.pingMs / checksPerPing)
  }

  /** One timer for all sockets. */
  #checkAll(): void {
    const now = this.#hub.clock.monotonic()
    const { pingMs, timeoutMs } = this.#times
    for (const link of this.#links) {
      const silent = now - link.heardAt
      if (link.closedAt !== undefined) {
        if (now - link.closedAt >= closeTimeoutMs) link.socket?.terminate()
      } else if (silent >= timeoutMs) this.#close(link, 'silent')
      else if (silent >= pingMs && !link.pinged) {
        link.pinged = true
        link.socket?.ping()
      }
    }
    this.#cancel = this.#links.size > 0 ? this.#hub.clock.after(this.#checkMs, () => this.#checkAll()) : undefined
  }

  /** Tells all clients that the server stops, and cuts off those that do not answer in time. */
  async stop(graceMs: number): Promise<void> {
    if (this.#sockets.size === 0) return
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve
    })
    for (const socket of this.#sockets.keys()) socket.close(...closes.stopping)
    const cancel = this.#hub.clock.after(graceMs, () => {
      for (const socket of this.#sockets.keys()) socket.terminate()
    })
    await emptied
    cancel()
  }
}

/** Several sockets of one agent are sent the same bytes. */
const frames = new WeakMap<object, Buffer>()

function frameOf<Event extends object>(event: Event, toFrame: (event: Event) => Buffer): Buffer {
  const made = frames.get(event) ?? toFrame(event)
  frames.set(event, made)
  return made
}
