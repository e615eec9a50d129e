/** The post door: the routes of its table over HTTP, for agents of different owners with keys and approved connections. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { needSelf } from '../../core/agents/register-with-key.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { HttpRefusal } from '../http/refusal.ts'
import { place, say } from '../mcp/args.ts'
import { toFailure } from './failures.ts'
import { type Described, openApi } from './openapi.ts'
import { docsPage, pagePolicy } from './page.ts'
import { agentRoutes } from './routes/agents.ts'
import { clientRoutes } from './routes/clients.ts'
import { connectionRoutes } from './routes/connections.ts'
import { messageRoutes } from './routes/messages.ts'
import type { Input, OwnContext, Parts, Route } from './table.ts'

interface PostOptions {
  /** Whether anybody may register an agent. */
  readonly registrationOpen: boolean
  /** The URL that clients know the server by. */
  readonly publicUrl?: string | undefined
  readonly version: string
}

export const postRoutes = (hub: Hub): Route[] => [
  ...agentRoutes(hub),
  ...connectionRoutes(hub),
  ...messageRoutes(hub),
  ...clientRoutes(hub),
]

/** In a scope of its own: its errors, and those of the server around it, are in the words of this door. */
export function mountPost(app: FastifyInstance, hub: Hub, options: PostOptions): void {
  const { registrationOpen, publicUrl, version } = options
  const routes = postRoutes(hub)
  app.register(async (scope) => {
    scope.setErrorHandler((error, _request, reply) => sendFailure(hub, error, reply))
    describe(scope, { routes, publicUrl, basePath: app.basePath, version })
    for (const route of routes) serve(scope, hub, route, registrationOpen)
    refuseOtherMethods(scope, routes)
  })
}

/** A known path with another method is 405 (post.errors.method). */
function refuseOtherMethods(scope: FastifyInstance, routes: readonly Route[]): void {
  for (const [path, some] of Map.groupBy(routes, (route) => route.path)) {
    const taken: readonly string[] = some.map(({ method }) => method)
    const refuse = (_request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void) => {
      reply.header('allow', taken.join(', '))
      done(new HttpRefusal(405, `This path takes ${taken.join(' and ')} only.`))
    }
    const others = scope.supportedMethods.filter((method) => !taken.includes(method))
    scope.route({ method: others, url: fastifyPath(path), onRequest: refuse, handler: () => {} })
  }
}

const fastifyPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** The description of the door is open to everybody, and made when it is first asked for. */
function describe(scope: FastifyInstance, described: Described): void {
  let [json, page]: (string | undefined)[] = []
  const anybody = { config: { open: true }, exposeHeadRoute: true }
  scope.get('/openapi.json', anybody, (_request, reply) => {
    json ??= JSON.stringify(openApi(described))
    return reply.type('application/json; charset=utf-8').send(json)
  })
  scope.get('/docs', anybody, (_request, reply) => {
    page ??= docsPage(described)
    return reply
      .headers({
        'content-security-policy': pagePolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      .type('text/html; charset=utf-8')
      .send(page)
  })
}

function sendFailure(hub: Hub, error: unknown, reply: FastifyReply): FastifyReply {
  const { status, body, retryAfter } = toFailure(error, hub.log)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return reply.code(status).send(body)
}

function serve(scope: FastifyInstance, hub: Hub, route: Route, registrationOpen: boolean): void {
  const { clock, metrics } = hub
  const seconds = metrics.toolSeconds.labels('post', route.name)
  const calls = {
    ok: metrics.toolCalls.labels('post', route.name, 'ok'),
    error: metrics.toolCalls.labels('post', route.name, 'error'),
  }
  const callers = new WeakMap<FastifyRequest, OwnContext['acting']>()
  scope.route({
    method: route.method,
    url: fastifyPath(route.path),
    config: { emptyBody: true, openToAll: route.open === true && registrationOpen },
    // Before the body is read: a missing key is reported first (post.key.missing).
    async preParsing(request, _reply, payload) {
      if (!route.open) callers.set(request, await needSelf(hub, request.caller))
      return payload
    },
    async handler(request, reply) {
      const from = clock.monotonic()
      let outcome: keyof typeof calls = 'error'
      try {
        const context = { caller: request.caller, acting: callers.get(request) } as OwnContext
        const answer = await route.run(readInput(route, request), context)
        outcome = 'ok'
        return reply.code(route.status).send(answer)
      } finally {
        calls[outcome].inc()
        seconds.observe((clock.monotonic() - from) / 1000)
      }
    },
  })
}

function readInput({ input, bodyOptional = false }: Route, request: FastifyRequest): Input<Parts> {
  const body = request.body ?? (bodyOptional ? {} : undefined)
  return {
    params: readPart('The path', input.params, request.params),
    query: readPart('The query', input.query, request.query),
    body: readPart('The body', input.body, body),
  } as Input<Parts>
}

const nothing = {}

function readPart(noun: string, schema: z.ZodObject | undefined, given: unknown): object {
  if (schema === undefined) return nothing
  const read = schema.safeParse(given, { error: say })
  if (read.success) return read.data
  const faults = read.error.issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? `${noun} ${message}.` : `"${place(path)}" ${message}.`))
  throw new HubError('INVALID_ARGUMENT', faults.join(' '))
}
