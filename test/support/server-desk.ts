/** The desk of people by a server that stands on a hub of a test, called by whom the test says. */
import Fastify from 'fastify'
import { openRemote } from '../../src/app/desk.ts'
import { asHubError, errorShape } from '../../src/base/errors.ts'
import type { Caller } from '../../src/core/access/callers.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { statusOf } from '../../src/doors/http/refusal.ts'
import { mountPeople } from '../../src/doors/people/door.ts'
import { remoteDesk } from '../../src/doors/people/remote-desk.ts'
import type { Desk } from '../../src/doors/words/desk.ts'

export async function serverDesk(hub: Hub, as: Caller): Promise<Desk> {
  const app = Fastify()
  app.decorateRequest('caller')
  app.decorate('endWithKey', () => () => {})
  app.addHook('onRequest', async (request) => {
    request.caller = as
  })
  app.setErrorHandler((thrown, _request, reply) => {
    const error = asHubError(thrown)
    return reply.code(statusOf(error)).send(errorShape(error))
  })
  mountPeople(app, hub)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...remoteDesk(await openRemote(url, undefined)),
    now: () => hub.clock.now(),
    async close() {
      await app.close()
      await hub.close()
    },
  }
}
