/** Server-sent events: how they are written, and the one timer that keeps every open stream alive. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../base/clock.ts'
import { limits } from '../../../base/limits.ts'

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export const event = (text: string): string => `event: message\ndata: ${text}\n\n`

/** An event that a client names when it comes back. */
export const numberedEvent = (text: string, id: string): string => `event: message\nid: ${id}\ndata: ${text}\n\n`

/** Names a place to come back to before there is anything to tell. */
export const primingEvent = (id: string): string => `id: ${id}\ndata: \n\n`

/** The last line of a stream that ends with the server. */
const comeAgain = `retry: ${limits.streamRetryMs}\n\n`

const keepAliveMs = 15_000

export interface Streams {
  add(stream: ServerResponse): void
  delete(stream: ServerResponse): void
  close(): void
  readonly size: number
}

export function createStreams(clock: Clock): Streams {
  const open = new Set<ServerResponse>()
  let cancel: (() => void) | undefined
  const beat = () => {
    for (const stream of open) writeEvent(stream, ': keepalive\n\n')
    cancel = open.size > 0 ? clock.after(keepAliveMs, beat) : undefined
  }
  return {
    add(stream) {
      open.add(stream)
      cancel ??= clock.after(keepAliveMs, beat)
    },
    delete(stream) {
      open.delete(stream)
    },
    get size() {
      return open.size
    },
    close() {
      cancel?.()
      for (const stream of open) endStream(stream)
      open.clear()
    },
  }
}

/** Writing to a stream that has ended is an error that nobody would catch. False if it was not written. */
export function writeEvent(stream: ServerResponse, text: string): boolean {
  if (stream.writableEnded || stream.destroyed) return false
  if (stream.writableLength > limits.unreadEventBytes) {
    stream.destroy()
    return false
  }
  stream.write(text)
  return true
}

/** For a client that is to come again: the server ends. */
export function endStream(stream: ServerResponse): void {
  writeEvent(stream, comeAgain)
  stream.end()
}
