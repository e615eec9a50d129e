/** The HTTP server without its doors: admission, bad requests, health. */
import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { nextTurn } from '../../base/clock.ts'
import { asHubError, errorShape, HubError, isUnexpected } from '../../base/errors.ts'
import { readJson } from '../../base/json.ts'
import { limits } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import { echo } from '../../base/text.ts'
import type { Caller } from '../../core/access/callers.ts'
import { accountRequests, pathOf } from './account-requests.ts'
import { type Admission, admitRoutes } from './admission.ts'
import { answerBelow, withoutBase } from './base-path.ts'
import { type ClientAddress, createClientAddress, createTrust } from './client-address.ts'
import { dropUnusedConnections } from './connections.ts'
import { type CorsOptions, createCors } from './cors.ts'
import { type CredentialOptions, createReadCaller, givenIn } from './credentials.ts'
import { addHealth, type HealthOptions } from './health.ts'
import { createGuard, createIsOurs, type GuardOptions } from './host-check.ts'
import { createOrigin, type OriginOptions } from './origin.ts'
import { checkForm, fromFastify, HttpRefusal, isCutOff, retryHeader, statusOf } from './refusal.ts'
import { createRefusals, type RefusedKind, refusedKind } from './refused-credentials.ts'
import { createResponses, type UnsentOptions } from './responses.ts'
import { addMetadata, challengeOf, type ResourceOptions } from './sign-in/resource.ts'
import { traceRequests } from './trace-requests.ts'
import type { WrongKeys } from './wrong-keys.ts'

export interface AppOptions extends GuardOptions, CredentialOptions, HealthOptions, UnsentOptions, OriginOptions {
  readonly log: Log
  /** Begins the id of each request: those of other processes begin otherwise. */
  readonly node?: string
  /** Addresses and networks of proxies that are believed whom they pass on. */
  readonly trustedProxies?: readonly string[]
  /** Holds callers to their roles and limits; absent where every caller may do all. */
  readonly admission?: Admission | undefined
  readonly cors?: CorsOptions | undefined
  readonly wrongKeys?: WrongKeys | undefined
  /** Calls `lost` once the key by which a caller came is no longer good, unless the returned function was called before. */
  onKeyLost?(caller: Caller, key: string, lost: () => void): () => void
  /** How to sign in, as clients are told. */
  readonly resource?: ResourceOptions
  /** Serves HTTPS with this certificate. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** Whether requests are logged at level info; else they are at level debug. */
  readonly requestsShown?: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the content type of JSON may come without a body. */
    emptyBody?: boolean
  }
  interface FastifyInstance {
    /** The caller of a request, for the pages, which admit their visitors themselves. Throws as other routes do. */
    callerOf(raw: IncomingMessage): Caller | Promise<Caller>
    /** Ends a stream when the key by which it was opened is no longer good; the returned function forgets it (all.keys.streams). */
    endWithKey(raw: IncomingMessage, caller: Caller, end: () => void): () => void
    /** The path below which the server is served; empty for none. */
    basePath: string
    /** The URL by which the client of a request reaches the server, without a slash at its end. */
    originOf(raw: IncomingMessage): string
    /** Whether the client of a request came by TLS. */
    isSecure(raw: IncomingMessage): boolean
    /** Where a request comes from, as limits count it. */
    clientAddress: ClientAddress
    /** Counts and logs credentials that were refused. */
    noteRefused(kind: RefusedKind, address: string | undefined): void
  }
}

/** Listen with `listen` below: it costs each request less than `app.listen` right after `app.ready`. */
export function createApp(options: AppOptions): FastifyInstance {
  const { log, admission, wrongKeys, resource = {}, trustedProxies = [], tls, node = 'r', basePath = '' } = options
  const ServerResponse = createResponses(options)
  let requests = 0
  const app = Fastify({
    ...(tls === undefined ? { http: { ServerResponse } } : ({ https: { ServerResponse, ...tls } } as object)),
    bodyLimit: limits.requestBytes,
    genReqId: () => `${node}-${(++requests).toString(36)}`,
    exposeHeadRoutes: false,
    ...(basePath === '' ? {} : ({ rewriteUrl: rewriteBelow(basePath) } as object)),
    // For a request to arrive, not for its answer.
    requestTimeout: 120_000,
    frameworkErrors: (error, request, reply) => sendError(log, error, request, reply),
    // While the server stops, requests on open connections are still answered; they are asked to close.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  // JSON is all that any route takes; everything else is 415.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // Some clients send their usual content type without a body (all.sessions.delete).
    if (bytes.length === 0 && (request.method === 'DELETE' || request.routeOptions.config.emptyBody))
      return done(null, undefined)
    try {
      // A key such as __proto__ is a key like any other: nothing here merges a body into another object.
      done(null, readJson(bytes))
    } catch (error) {
      done(error instanceof HubError ? error : new HttpRefusal(400, 'The body is not valid JSON.'))
    }
  })
  app.decorateRequest('caller')

  traceRequests(app)
  const account = accountRequests(app, options)
  const guard = createGuard(options)
  const cors = options.cors && createCors(options.cors)
  const clientAddress = createClientAddress(trustedProxies)
  const readCaller = createReadCaller({
    ...options,
    operatorHeldUp: (request) => wrongKeys?.heldUp(clientAddress(request)),
  })
  app.decorate('clientAddress', clientAddress)
  const origin = createOrigin({ ...options, trusts: createTrust(trustedProxies), isOurs: createIsOurs(options) })
  app.decorate('basePath', basePath).decorate('originOf', origin.originOf).decorate('isSecure', origin.isSecure)
  const noteRefused = createRefusals(options)
  app.decorate('noteRefused', noteRefused)
  const judge = async (error: unknown, raw: IncomingMessage): Promise<Error> => {
    const judged = ((await wrongKeys?.judge(error, clientAddress(raw))) ?? error) as Error
    noteRefused(refusedKind(judged, raw.headers), clientAddress(raw))
    return judged
  }
  app.decorate('callerOf', async (raw) => {
    const caller = readCaller(raw, guard(raw))
    if (!(caller instanceof Promise)) return caller
    return caller.catch(async (error: unknown) => {
      throw await judge(error, raw)
    })
  })
  app.decorate('endWithKey', ({ headers }, caller, end) => {
    const key = givenIn(headers)
    return (typeof key === 'string' && options.onKeyLost?.(caller, key, end)) || (() => {})
  })
  const readOrNote = (request: FastifyRequest, toLoopback: boolean) => {
    const { raw } = request
    try {
      return readCaller(raw, toLoopback, () => request.routeOptions.config.openToAll === true)
    } catch (error) {
      noteRefused(refusedKind(error, raw.headers), clientAddress(raw))
      throw error
    }
  }
  app.addHook('onRequest', (request, reply, done) => {
    const toLoopback = guard(request.raw)
    const page = isPage(request.raw)
    // A browser asks before it sends credentials.
    if (!page && cors?.(request, reply)) return
    checkForm(request.raw)
    if (page || isOpen(request)) return done()
    const caller = readOrNote(request, toLoopback)
    const enter = (who: Caller) => {
      request.caller = who
      done()
    }
    if (caller instanceof Promise) caller.then(enter, (error: unknown) => judge(error, request.raw).then(done, done))
    else enter(caller)
  })
  if (admission !== undefined) app.addHook('onRoute', admitRoutes(admission))

  app.setErrorHandler((error: FastifyError, request, reply) => sendError(log, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    account(request, reply)
    sendError(log, new HubError('NOT_FOUND', `There is nothing at ${echo(pathOf(request))}.`), request, reply)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const challenge = reply.statusCode < 401 ? undefined : challengeOf(app, resource, request, reply.statusCode)
    if (challenge !== undefined) reply.header('www-authenticate', challenge)
    reply.headers(retryHeader(reply.statusCode))
    done(null, payload)
  })
  answerBelow(app, basePath)
  dropUnusedConnections(app)
  addHealth(app, options)
  addMetadata(app, resource, options)
  return app
}

/** Routes check their input themselves. Without this, Fastify loads a compiler of JSON Schemas at every start (20 ms, 5 MB). */
function noSchemas(): never {
  throw new Error('No route has a JSON Schema.')
}

/**
 * Listening in the same chain of microtasks as `ready` makes every later request 7 µs dearer. The reason was not found;
 * `bench/` shows when the extra turn may go.
 */
export async function listen(app: FastifyInstance, place: ListeningPlace): Promise<string> {
  await app.ready()
  await nextTurn()
  return app.listen({ ...place })
}

/** An address, a Unix socket, or a socket that somebody else has opened (`host` is then only a name). */
export type ListeningPlace =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }
  | { readonly fd: number; readonly host: string }

const rewriteBelow =
  (base: string) =>
  ({ url = '/' }: IncomingMessage): string =>
    withoutBase(url, base)

/** Probes carry no credentials, nor do those who ask how to call or to get some; a path that does not exist is 404 for everybody. */
const isOpen = ({ is404, raw: { url = '' } }: FastifyRequest): boolean =>
  is404 || openPaths.some((path) => url.startsWith(path))

const openPaths = ['/health/', '/.well-known/', '/docs', '/openapi.json']

/** Pages take cookies too, and lead to a login. By the path, because the options of a route cost every request 1 µs. */
const isPage = ({ url = '' }: IncomingMessage): boolean =>
  url === '/' || (url.startsWith('/mail') && (url.length === 5 || url[5] === '/' || url[5] === '?'))

function sendError(
  log: Log,
  thrown: FastifyError | HubError,
  { raw }: Pick<FastifyRequest, 'raw'>,
  reply: FastifyReply,
): FastifyReply {
  const error = fromFastify(thrown) ?? asHubError(thrown)
  if (isUnexpected(error) && !isCutOff(raw)) log.error({ err: thrown }, 'a request failed')
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  return reply.code(statusOf(error)).send(errorShape(error))
}
