/** Responses of every door: connections that stall are closed, all that waits has one budget, and a server that stops ends each connection with its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'

/** An import by name would load the whole of fetch and WebSocket with it: 30 ms of a start. */
const http = process.getBuiltinModule('node:http')

/** A connection that takes nothing for this long while bytes wait for it is closed (all.unread.stalled). */
const patienceMs = 30_000

/** Looks within that time. They are counted, and no times compared: neither a clock that is set nor a machine that slept cuts anybody off. */
const looks = 6

interface Waiting {
  /** Bytes that wait, and bytes that the kernel has taken, as of the last look. */
  bytes: number
  taken: number
  /** Looks since it last took something. */
  idle: number
  /** Listens for its end while it waits: a stream may stall and drain a thousand times. */
  readonly closed: () => void
}

export interface UnsentOptions {
  readonly clock: Clock
  readonly log: Log
  /** The budget of all that waits, for tests. */
  readonly unsentBytes?: number
  /** Whether the server is about to stop, and each connection ends with its answer. */
  ending?(): boolean
}

/** The class of responses of a server: it sees every write, of whichever door. */
export function createResponses({
  clock,
  log,
  unsentBytes = limits.unsentBytes,
  ending = () => false,
}: UnsentOptions): typeof ServerResponse {
  /** The longest without progress first. */
  const waiting = new Map<ServerResponse, Waiting>()
  let total = 0
  let cancel: (() => void) | undefined

  const drop = (response: ServerResponse): void => {
    const entry = waiting.get(response)
    if (entry === undefined) return
    total -= entry.bytes
    waiting.delete(response)
    response.off('close', entry.closed)
    if (waiting.size > 0) return
    cancel?.()
    cancel = undefined
  }

  const note = (response: ServerResponse): void => {
    const known = waiting.get(response)
    const entry = known ?? { bytes: 0, taken: takenBy(response.req.socket), idle: 0, closed: () => drop(response) }
    if (known === undefined) response.once('close', entry.closed)
    waiting.set(response, entry)
    count(response, entry)
    cancel ??= clock.after(patienceMs / looks, look)
    if (total > unsentBytes) shed()
  }

  const count = (response: ServerResponse, entry: Waiting): void => {
    total += response.writableLength - entry.bytes
    entry.bytes = response.writableLength
  }

  /** Brings the account of every response up to date; those that took something go to the end. `passed`: looks since the last. */
  const review = (passed: 0 | 1): void => {
    for (const [response, entry] of [...waiting]) {
      const { socket } = response.req
      const taken = takenBy(socket)
      if (socket.destroyed || response.writableLength === 0) drop(response)
      else if (taken === entry.taken) entry.idle += passed
      else {
        count(response, entry)
        entry.taken = taken
        entry.idle = 0
        waiting.delete(response)
        waiting.set(response, entry)
      }
    }
  }

  const look = (): void => {
    review(1)
    for (const [response, { idle }] of [...waiting]) if (idle >= looks) close(response)
    cancel = waiting.size > 0 ? clock.after(patienceMs / looks, look) : undefined
  }

  /** Closes the socket. Mail that its calls took is put back, as for a client that hangs up. */
  const close = (response: ServerResponse): void => {
    drop(response)
    response.req.socket.destroy()
  }

  /**
   * Over the budget (all.unread.budget), connections are closed until a quarter of it is free, those first that took nothing
   * for the longest time: whoever reads, however slowly, goes last.
   */
  const shed = (): void => {
    review(0)
    if (total <= unsentBytes) return
    let closed = 0
    for (const response of [...waiting.keys()]) {
      if (total <= unsentBytes * 0.75) break
      close(response)
      closed++
    }
    log.warn({ closed }, 'too many answers waited for clients that do not read; their connections were closed')
  }

  return class Response<Request extends IncomingMessage = IncomingMessage> extends http.ServerResponse<Request> {
    override writeHead(...args: unknown[]): this {
      // Also of a request that began long before: a proxy would send the next one on a connection that is about to go (serve.stop.drain).
      if (ending()) this.shouldKeepAlive = false
      return super.writeHead(...(args as [number]))
    }

    override write(...args: unknown[]): boolean {
      // A write of this turn is held back until the turn ends. Bytes that still wait from an earlier turn: the client reads nothing.
      const stalls = this.writableLength > 0 && this.socket?.writableCorked === 0
      const written = super.write(...(args as [string]))
      if (stalls) note(this)
      return written
    }

    override end(...args: unknown[]): this {
      const { socket } = this.req
      // The header of a stream went out long ago, and said that the connection stays.
      if (this.headersSent && ending()) this.once('finish', () => socket.destroySoon())
      super.end(...(args as []))
      // The kernel takes an answer at once if its client reads: 3 MB on loopback.
      if (this.writableLength > 0) note(this)
      return this
    }
  }
}

/** Bytes that the kernel has taken for a connection; `bytesWritten` counts those too that wait. */
function takenBy(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
