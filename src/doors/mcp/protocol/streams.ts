/** Server-sent events: how they are written, and the one timer that keeps every open stream alive. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../base/clock.ts'
import { limits } from '../../../base/limits.ts'

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
} as const

export const event = (text: string): string => `event: message\ndata: ${text}\n\n`

const keepAliveMs = 15_000

export interface Streams {
  add(stream: ServerResponse): void
  delete(stream: ServerResponse): void
  close(): void
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
    close() {
      cancel?.()
      for (const stream of open) stream.end()
      open.clear()
    },
  }
}

/** Writing to a stream that has ended is an error that nobody would catch. */
export function writeEvent(stream: ServerResponse, text: string): void {
  if (stream.writableEnded || stream.destroyed) return
  if (stream.writableLength > limits.unreadEventBytes) stream.destroy()
  else stream.write(text)
}
