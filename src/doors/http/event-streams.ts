/** Streams of events (SSE): kept alive by comments, ended with the server or with the key that opened them. */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { Caller } from '../../core/access/callers.ts'

/** Proxies and clients take a silent stream for a dead one. */
const commentEveryMs = 15_000

/** A client that leaves more than this unread is gone: its stream is closed, and one that lives opens another. */
const mostUnreadBytes = 64 * 1024

/** Of a stream that lasts: a proxy would send the next call on its connection while the server that has ended it goes (serve.stop.drain). */
export const lastOfItsConnection = { connection: 'close' }

export interface StreamEvent {
  readonly event: string
  readonly id: string | number
  readonly data: object
}

/** While a stream begins, the promise resolves once the client has read most of what was written. */
type Tell = (event: StreamEvent) => Promise<void> | void

interface Opening {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly caller: Caller
  /** An error before its first event is an answer, and no stream. The returned function ends it. */
  begin(tell: Tell): Promise<() => void>
}

/** Opens streams for the routes of one scope. */
export function createStreams(scope: FastifyInstance, clock: Clock) {
  const streams = new Map<ServerResponse, () => void>()
  let cancel: (() => void) | undefined

  const write = (stream: ServerResponse, text: string): void => {
    if (stream.writableEnded || stream.destroyed) return
    stream.write(text)
    if (stream.writableLength > mostUnreadBytes) stream.destroy()
  }
  /** One timer for all of them. */
  const comment = (): void => {
    cancel = undefined
    for (const stream of streams.keys()) write(stream, ': still here\n\n')
    if (streams.size > 0) cancel = clock.after(commentEveryMs, comment)
  }
  // Before the server waits for its connections to end: these never would.
  scope.addHook('preClose', async () => {
    cancel?.()
    for (const [stream, stop] of streams) {
      stop()
      write(stream, `retry: ${limits.streamRetryMs}\n\n`)
      stream.end()
    }
    streams.clear()
  })

  return async ({ request, reply, caller, begin }: Opening): Promise<FastifyReply> => {
    const { raw } = reply
    let [isOpen, begun] = [false, false]
    const open = (): void => {
      if (isOpen) return
      isOpen = true
      reply.hijack()
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        ...lastOfItsConnection,
      })
      raw.write(': connected\n\n')
    }
    const tell: Tell = (event) => {
      open()
      if (begun) return write(raw, textOf(event))
      return raw.write(textOf(event)) || raw.destroyed ? undefined : drained(raw)
    }
    let stop: () => void
    try {
      stop = await begin(tell)
    } catch (error) {
      // Too late for an answer: the client sees that the stream is cut off, and comes again.
      if (!isOpen) throw error
      raw.destroy()
      return reply
    }
    open()
    begun = true
    if (raw.destroyed || request.raw.destroyed) {
      stop()
      return reply
    }
    streams.set(raw, stop)
    const leave = () => {
      forget()
      stop()
      streams.delete(raw)
    }
    const forget = reply.server.endWithKey(request.raw, caller, () => {
      // First: nothing may be written to a stream that has ended.
      leave()
      raw.end()
    })
    raw.on('close', leave)
    cancel ??= clock.after(commentEveryMs, comment)
    return reply
  }
}

const drained = (stream: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    stream.once('drain', resolve).once('close', resolve)
  })

const textOf = ({ event, id, data }: StreamEvent): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
