/** The door of the command line on other machines: people read and write below /people with the operator's token. */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { echo } from '../../base/text.ts'
import { atCommandLine } from '../../core/access/rules.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { followMail } from '../../core/pages/follow-mail.ts'
import { createStreams } from '../http/event-streams.ts'
import { toMessage } from '../words/page-mail.ts'
import { followInput, peopleRoutes } from './routes.ts'
import { storeDesk } from './store-desk.ts'

export function mountPeople(app: FastifyInstance, hub: Hub): void {
  for (const { method, path, input, run } of peopleRoutes)
    app.route({
      method,
      url: path,
      handler: async (request, reply) => {
        const given = read(input, method === 'GET' ? request.query : request.body)
        const answer = await run(storeDesk(hub, atCommandLine(request.caller)), given)
        return reply.header('cache-control', 'no-store').send(answer)
      },
    })

  void app.register(async (scope) => {
    const stream = createStreams(scope, hub.clock)
    scope.get('/people/watch', async (request, reply) => {
      const wish = read(followInput, request.query)
      const { 'last-event-id': last } = request.headers
      const caller = atCommandLine(request.caller)
      const since = typeof last === 'string' ? last : undefined
      return stream({
        request,
        reply,
        caller: request.caller,
        begin: async (tell) => {
          const following = await followMail(hub, caller, {
            ...wish,
            since,
            tell: (message, id) => tell({ event: 'message', id, data: toMessage(message) }),
          })
          // For a client that is cut off before the first message; one that was told of some knows better.
          await tell({ event: 'ready', id: following.place, data: {} })
          return following.leave
        },
      })
    })
  })
}

function read<Shape extends z.ZodObject>(shape: Shape, given: unknown): z.output<Shape> {
  const result = shape.safeParse(given ?? {})
  if (result.success) return result.data
  const [issue] = result.error.issues
  const at = issue?.path.join('.') ?? ''
  throw new HubError(
    'INVALID_ARGUMENT',
    at === '' ? 'The body must be a JSON object.' : `"${echo(at)}" ${issue?.message}.`,
  )
}
