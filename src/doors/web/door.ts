/** The web door: pages for people at /mail, rendered on the server, complete without scripts. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { HubError } from '../../base/errors.ts'
import { findEventPosition } from '../../core/pages/events.ts'
import { readMarks } from '../../core/pages/marks.ts'
import { isSameSite } from '../http/host-check.ts'
import { addAccounts } from './accounts.ts'
import { type Assets, loadAssets } from './assets.ts'
import { addEvents } from './events.ts'
import { addFiles } from './files.ts'
import { FormFault, type Typed } from './forms.ts'
import { securityHeaders } from './headers.ts'
import { encodingOf, formOf, isBrowser } from './negotiation.ts'
import type { Params } from './page.ts'
import { createRefreshes, type InTurn, refreshHeader } from './refreshes.ts'
import { fail, send } from './replies.ts'
import { forms, type LoadForm, type LoadPage, pages } from './routes.ts'
import { createSessions } from './sessions.ts'
import type { Visit, WebOptions } from './site.ts'
import { createVisits, type Loaded, type Visits } from './visits.ts'

const cachedSeconds = 365 * 86_400
const route: RouteShorthandOptions = { config: { open: true } }

export function mountWeb(app: FastifyInstance, options: WebOptions): void {
  const { hub } = options
  const sessions = createSessions(hub, options)
  let loading: Promise<Loaded> | undefined
  const parts = (): Promise<Loaded> => {
    loading ??= load()
    return loading
  }
  app.addHook('onClose', async () => (await loading)?.bodies.close())
  const visits = createVisits(app, options, { sessions, parts })
  const inTurn = createRefreshes()

  // A person who types only the host means the pages; everybody else is told that there is nothing.
  app.get('/', route, async (request, reply) => {
    if (!isBrowser(request.headers)) throw new HubError('NOT_FOUND', 'There is nothing at /.')
    return reply.redirect('/mail', 303)
  })

  void app.register(async (scope) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
      done(null, new URLSearchParams(text as string)),
    )
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(securityHeaders)
      keepOut(request)
    })
    scope.setErrorHandler((thrown, request, reply) => fail({ thrown, request, reply, visits, log: hub.log }))
    scope.get('/mail/assets/:hash/*', route, async (request, reply) =>
      sendAsset((await parts()).assets, request, reply),
    )
    addAccounts(scope, { hub, sessions, visits, route })
    addFiles(scope, { visits, route })
    addEvents(scope, { hub, visits, route })
    for (const [path, load] of Object.entries(pages)) scope.get(path, route, page(visits, load, inTurn))
    for (const [path, load] of Object.entries(forms)) scope.post(path, route, form(visits, load, pages[path]))
    // Everything else below /mail is a page that does not exist: with the way back, for whoever may look at all.
    scope.all('/mail/*', route, async (request, reply) => {
      await visits.admitted(request, reply)
      throw new HubError('NOT_FOUND', 'There is no such page.')
    })
  })
}

/** The first page loads the parts that only pages need: a hub that nobody looks at pays nothing (web.pages.lazy). */
async function load(): Promise<Loaded> {
  const [assets, { Bodies }] = await Promise.all([loadAssets(), import('./markdown/bodies.ts')])
  return { assets, bodies: new Bodies() }
}

/** Other sites have no business here, whatever the settings allow them at the doors of agents (web.csrf.origin). */
function keepOut({ headers: { host = '', origin } }: FastifyRequest): void {
  if (origin === undefined || isSameSite(host, origin)) return
  throw new HubError('FORBIDDEN', 'Pages of other sites may not call these pages.')
}

async function sendAsset(
  assets: Assets,
  { headers, params }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { hash = '', '*': name = '' } = params as Params
  const asset = assets.find(hash, name)
  if (asset === undefined) throw new HubError('NOT_FOUND', 'There is no such file.')
  reply.headers({
    'cache-control': `public, max-age=${cachedSeconds}, immutable`,
    vary: 'Accept-Encoding',
    'content-type': asset.type,
  })
  const encoding = encodingOf(headers)
  if (encoding === undefined) return reply.send(asset.plain)
  return reply.header('content-encoding', encoding).send(await asset[encoding]())
}

interface PageRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visit: Visit
}

const page =
  (visits: Visits, load: LoadPage, inTurn: InTurn) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const answer = async () => show(load, { request, reply, visit: await visits.admitted(request, reply) })
    if (request.headers[refreshHeader] === undefined) return answer()
    return (await inTurn(() => request.raw.socket.destroyed, answer)) ?? reply
  }

async function show(load: LoadPage, { request, reply, visit }: PageRequest): Promise<FastifyReply> {
  const { page: respond } = await load()
  const { hub, caller, marks } = visit
  const position = await findEventPosition(hub, caller)
  const person = formOf(request.headers, visit.query) === 'html'
  if (person) visit.bodies.expect()
  const placed = { ...visit, ...position, marks: person ? await readMarks(hub, caller, marks.person) : marks }
  return send(reply, { answer: await respond(placed, request.params as Params), visit: placed, request })
}

const form =
  (visits: Visits, load: LoadForm, itsPage: LoadPage | undefined) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { visit, fields, program } = await visits.submitted(request, reply)
    const again = (typed: Typed): Promise<FastifyReply> => {
      if (itsPage === undefined) throw new HubError('INVALID_ARGUMENT', Object.values(typed.faults).join(' '))
      return show(itsPage, { request, reply, visit: { ...visit, typed } })
    }
    try {
      const { submit } = await load()
      const done = await submit({ visit, params: request.params as Params, fields })
      if (program) return reply.send(done.receipt)
      if ('see' in done) return reply.redirect(done.see, 303)
      return await again({ fields, faults: {}, preview: true, receipt: done.receipt })
    } catch (error) {
      if (!(error instanceof FormFault)) throw error
      if (program) throw new HubError('INVALID_ARGUMENT', error.message, { cause: error })
      reply.code(422)
      return await again({ fields, faults: error.faults, preview: false })
    }
  }
