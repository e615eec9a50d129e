/** The event stream of the pages: that something changed, and where; never what was written (web.events.hints). */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { HubError } from '../../base/errors.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { followPageEvents, type PageEvent } from '../../core/pages/events.ts'
import { createStreams, type StreamEvent } from '../http/event-streams.ts'
import type { Visits } from './visits.ts'

interface Parts {
  readonly hub: Hub
  readonly visits: Visits
  readonly route: RouteShorthandOptions
}

export function addEvents(scope: FastifyInstance, { hub, visits, route }: Parts): void {
  const stream = createStreams(scope, hub.clock)

  scope.get('/mail/events', route, async (request, reply) => {
    const site = request.headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new HubError('FORBIDDEN', 'Pages of other sites may not listen here.')
    const { caller, query } = await visits.admitted(request, reply)
    const wish = {
      project: text(query, 'project'),
      thread: text(query, 'thread'),
      agent: text(query, 'agent'),
      since: text(query, 'since'),
      after: placeOf(request.headers['last-event-id']),
    }
    // Subscribed before the first byte: a missing project is an answer, not a stream.
    return stream({
      request,
      reply,
      caller,
      begin: (tell) => followPageEvents(hub, caller, { ...wish, tell: (event) => tell(eventOf(event)) }),
    })
  })
}

const text = (query: URLSearchParams, name: string): string | undefined => query.get(name) || undefined

/** An id that is none of ours resumes nothing. */
function placeOf(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}

const eventOf = ({ id, kind, project, threadId, messageId }: PageEvent): StreamEvent => ({
  event: 'change',
  id,
  data: { kind, project: project ?? null, thread_id: threadId ?? null, message_id: messageId ?? null },
})
