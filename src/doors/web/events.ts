/** The event stream of the pages: that something changed, and where; never what was written (web.events.hints). */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { HubError } from '../../base/errors.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { followPageEvents, type PageEvent } from '../../core/pages/events.ts'
import type { Visits } from './visits.ts'

/** Proxies and browsers take a silent stream for a dead one. */
const commentEveryMs = 15_000

/** A client that leaves more than this unread is gone: its stream is closed, and a page that lives opens another. */
const mostUnreadBytes = 64 * 1024

interface Parts {
  readonly hub: Hub
  readonly visits: Visits
  readonly route: RouteShorthandOptions
}

export function addEvents(scope: FastifyInstance, { hub, visits, route }: Parts): void {
  const streams = new Map<ServerResponse, () => void>()
  let cancel: (() => void) | undefined

  const write = (stream: ServerResponse, text: string): void => {
    stream.write(text)
    if (stream.writableLength > mostUnreadBytes) stream.destroy()
  }
  /** One timer for all of them. */
  const comment = (): void => {
    cancel = undefined
    for (const stream of streams.keys()) write(stream, ': still here\n\n')
    if (streams.size > 0) cancel = hub.clock.after(commentEveryMs, comment)
  }
  // Before the server waits for its connections to end: these never would.
  scope.addHook('preClose', async () => {
    cancel?.()
    for (const [stream, stop] of streams) {
      stop()
      stream.end()
    }
    streams.clear()
  })

  scope.get('/mail/events', route, async (request, reply) => {
    const site = request.headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new HubError('FORBIDDEN', 'Pages of other sites may not listen here.')
    const { caller, query } = await visits.admitted(request, reply)
    const raw = reply.raw
    let stop = () => {}
    const waiting: PageEvent[] = []
    let open = false
    const tell = (event: PageEvent): void => {
      if (open) write(raw, eventOf(event))
      else waiting.push(event)
    }
    const wish = {
      project: text(query, 'project'),
      thread: text(query, 'thread'),
      agent: text(query, 'agent'),
      since: text(query, 'since'),
    }
    // Subscribed before the first byte: a missing project is an answer, not a stream.
    stop = await followPageEvents(hub, caller, { ...wish, after: placeOf(request.headers['last-event-id']), tell })
    if (raw.destroyed || request.raw.destroyed) {
      stop()
      return reply.hijack()
    }
    reply.hijack()
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    raw.write(': connected\n\n')
    open = true
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
    for (const event of waiting.splice(0)) tell(event)
    cancel ??= hub.clock.after(commentEveryMs, comment)
    return reply
  })
}

const text = (query: URLSearchParams, name: string): string | undefined => query.get(name) || undefined

/** An id that is none of ours resumes nothing. */
function placeOf(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}

function eventOf({ id, kind, project, threadId, messageId }: PageEvent): string {
  const data = { kind, project: project ?? null, thread_id: threadId ?? null, message_id: messageId ?? null }
  return `event: change\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
}
