/** The open WebSockets of a process: who listens at each, what waits for it, and when it was last heard of. */
import { WebSocket } from 'ws'
import { Crowd } from '../../../base/heap.ts'
import { limits } from '../../../base/limits.ts'
import type { Caller } from '../../../core/access/callers.ts'
import { holdsKey } from '../../../core/access/keys.ts'
import type { Acting } from '../../../core/agents/acting.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { type Watcher, watchAgent } from '../../../core/mail/watching.ts'
import { type Close, closes, connectionApproved, connectionRequest, newMessage, pong, readSaid } from './events.ts'

export interface SocketTimes {
  /** Silence after which a socket is pinged, and after which it is closed. */
  readonly pingMs: number
  readonly timeoutMs: number
}

/** A socket that knows its link: listeners are then shared by all, instead of five closures for each. */
export class LinkedSocket extends WebSocket {
  link?: Link
}

/** One socket. Until its handshake is done, events wait here. */
export interface Link {
  socket: LinkedSocket | undefined
  readonly early: Buffer[]
  /** When it was last heard of, and whether it was pinged since. */
  heardAt: number
  pinged: boolean
  /** Ends the watch of its agent. */
  leave: () => void
  /** When it was closed from here: a client that does not answer is cut off later. */
  closedAt: number | undefined
}

/** Looks at all sockets within the shorter of the two times. */
const looks = 4
const patienceMs = 10_000
/** From here on a socket counts as slow, and the bytes that wait for it into the sum of all. */
const slowBytes = 64 * 1024

export class Sockets {
  readonly #hub: Hub
  readonly #times: SocketTimes
  readonly #links = new Set<Link>()
  readonly #slow = new Set<Link>()
  /** Every socket whose handshake is done, known or not: a stop ends them all. */
  readonly #sockets = new Set<LinkedSocket>()
  readonly #crowd: Crowd
  readonly listeners = listenersOf(this)
  #cancel: (() => void) | undefined
  #emptied: (() => void) | undefined

  constructor(hub: Hub, times: SocketTimes) {
    this.#hub = hub
    this.#crowd = new Crowd(hub.clock)
    this.#times = { pingMs: Math.min(times.pingMs, times.timeoutMs / 2), timeoutMs: times.timeoutMs }
  }

  /** A link that hears of everything committed from now on. `hash`: that of the key by which it came. */
  async open(acting: Acting, hash: string): Promise<Link> {
    const link: Link = {
      socket: undefined,
      early: [],
      heardAt: this.#hub.clock.monotonic(),
      pinged: false,
      leave: () => {},
      closedAt: undefined,
    }
    link.leave = await watchAgent(this.#hub, acting, new LinkWatcher(this, link, acting.caller, hash))
    return link
  }

  /** Closes a link whose key is not good any more. */
  checkKey(link: Link, caller: Caller, hash: string): void {
    holdsKey(this.#hub, caller, hash).then(
      (good) => good || this.close(link, 'badKey'),
      (error: unknown) => this.#hub.log.warn({ err: error }, 'whether a key is still good could not be read'),
    )
  }

  /** The handshake is done; who it is may be known later. */
  greet(socket: LinkedSocket): void {
    this.#sockets.add(socket)
    this.#crowd.note(this.#sockets.size)
    socket.on('error', terminate)
    socket.on('close', this.listeners.close)
  }

  /** It is closed. */
  ended(socket: LinkedSocket): void {
    this.#sockets.delete(socket)
    if (socket.link !== undefined) this.#forget(socket.link)
    if (this.#sockets.size === 0) this.#emptied?.()
  }

  /** It is known who it is. */
  attach(link: Link, socket: LinkedSocket): void {
    // Its key was revoked during the handshake.
    if (link.closedAt !== undefined) {
      link.leave()
      socket.close(...closes.badKey)
      return
    }
    link.socket = socket
    socket.link = link
    this.#links.add(link)
    this.#hub.metrics.sockets.set(this.#links.size)
    this.#cancel ??= this.#hub.clock.after(this.#tickMs, () => this.#look())
    for (const event of link.early.splice(0)) this.send(link, event)
    socket.on('pong', this.listeners.pong)
    socket.on('message', this.listeners.message)
  }

  heard(link: Link): void {
    link.heardAt = this.#hub.clock.monotonic()
    link.pinged = false
  }

  hear(link: Link, data: Buffer): void {
    this.heard(link)
    if (readSaid(data)?.type === 'ping') this.send(link, pong)
  }

  /** A socket that does not read keeps its agent's mail where it is: in the inbox (post.socket.slow). */
  send(link: Link, event: Buffer): void {
    const { socket } = link
    if (socket === undefined) {
      link.early.push(event)
      return
    }
    if (socket.readyState !== socket.OPEN) return
    const waiting = socket.bufferedAmount
    if (waiting > 0 && waiting + event.length > limits.socketBytes) {
      this.close(link, 'slow')
      return
    }
    socket.send(event, { binary: false })
    if (socket.bufferedAmount < slowBytes) return
    this.#slow.add(link)
    this.#shed()
  }

  /** Over the budget of all, those go for which the most waits. */
  #shed(): void {
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
      this.close(link, 'slow')
      link.socket?.terminate()
    }
  }

  close(link: Link, why: Close): void {
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

  get #tickMs(): number {
    return Math.max(50, this.#times.pingMs / looks)
  }

  /** One look at all of them, instead of a timer for each. */
  #look(): void {
    const now = this.#hub.clock.monotonic()
    const { pingMs, timeoutMs } = this.#times
    for (const link of this.#links) {
      const silent = now - link.heardAt
      if (link.closedAt !== undefined) {
        if (now - link.closedAt >= patienceMs) link.socket?.terminate()
      } else if (silent >= timeoutMs) this.close(link, 'silent')
      else if (silent >= pingMs && !link.pinged) {
        link.pinged = true
        link.socket?.ping()
      }
    }
    this.#cancel = this.#links.size > 0 ? this.#hub.clock.after(this.#tickMs, () => this.#look()) : undefined
  }

  /** Tells all clients that the server stops; those that do not answer in time are cut off. */
  async stop(graceMs: number): Promise<void> {
    if (this.#sockets.size === 0) return
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve
    })
    for (const socket of this.#sockets) socket.close(...closes.stopping)
    const cancel = this.#hub.clock.after(graceMs, () => {
      for (const socket of this.#sockets) socket.terminate()
    })
    await emptied
    cancel()
  }
}

/** Of all sockets: each is called with the socket as `this`. */
const listenersOf = (sockets: Sockets) => ({
  close(this: LinkedSocket): void {
    sockets.ended(this)
  },
  pong(this: LinkedSocket): void {
    if (this.link !== undefined) sockets.heard(this.link)
  },
  message(this: LinkedSocket, data: Buffer): void {
    if (this.link !== undefined) sockets.hear(this.link, data)
  },
})

function terminate(this: WebSocket): void {
  this.terminate()
}

/** Watches the agent of a link for it. */
class LinkWatcher implements Watcher {
  readonly #sockets: Sockets
  readonly #link: Link
  readonly #caller: Caller
  readonly #hash: string

  constructor(sockets: Sockets, link: Link, caller: Caller, hash: string) {
    this.#sockets = sockets
    this.#link = link
    this.#caller = caller
    this.#hash = hash
  }

  arrived(mail: Parameters<Watcher['arrived']>[0]): void {
    this.#sockets.send(this.#link, once(mail, newMessage))
  }

  asked(request: Parameters<Watcher['asked']>[0]): void {
    this.#sockets.send(this.#link, once(request, connectionRequest))
  }

  approved(connection: Parameters<Watcher['approved']>[0]): void {
    this.#sockets.send(this.#link, once(connection, connectionApproved))
  }

  keysChanged(): void {
    this.#sockets.checkKey(this.#link, this.#caller, this.#hash)
  }
}

/** Several sockets of one agent are sent the same bytes. */
const frames = new WeakMap<object, Buffer>()

function once<Event extends object>(event: Event, toFrame: (event: Event) => Buffer): Buffer {
  const made = frames.get(event) ?? toFrame(event)
  frames.set(event, made)
  return made
}
