/** Mounts a door on the HTTP server: POST for messages, GET for the stream of a session, DELETE for its end. */

import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asHubError, errorShape, HubError, isUnexpected } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import { drain } from '../../http/drain.ts'
import { lastOfItsConnection } from '../../http/event-streams.ts'
import { HttpRefusal, isCutOff, statusOf } from '../../http/refusal.ts'
import type { Engine } from '../protocol/engine.ts'
import { createEras } from '../protocol/eras.ts'
import { isRecord } from '../protocol/json.ts'
import { errorText, Refusal, rpcCodes, rpcError, unreadable, wrongType } from '../protocol/refusal.ts'
import { createService } from '../protocol/service.ts'
import { primingEvent, streamHeaders, writeEvent } from '../protocol/streams.ts'
import type { Door } from '../table.ts'
import { acceptsEvents, withReplyHeaders } from './exchange.ts'
import { receive } from './incoming.ts'
import { type Mount, type ReadScope, requestContextOf, sessionOf, updatesOf } from './mount.ts'
import { isShortForm } from './short-form.ts'

interface MountOptions<Scope> {
  readonly engine: Engine
  /** As Fastify writes it: `/agents/:agent/mcp`. */
  readonly path: string
  readonly door: Door<Scope>
  /** Throws a HubError for a path that names nothing. */
  readonly scope: ReadScope<Scope>
}

export function mountDoor<Scope>(app: FastifyInstance, { engine, path, door, scope }: MountOptions<Scope>): void {
  const service = createService(door, engine)
  engine.tasks?.serve(service)
  const mount: Mount<Scope> = { service, eras: createEras(service), scope }
  const errorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
    refuse(engine, error, request, reply)
  const route = { url: path, errorHandler, config: { messages: true } }
  app.route({ ...route, method: 'POST', handler: (request, reply) => receive(mount, request, reply) })
  app.route({ ...route, method: 'GET', handler: (request, reply) => openStream(mount, request, reply) })
  app.route({ ...route, method: 'DELETE', handler: (request, reply) => endSession(mount, request, reply) })
  app.route({
    ...route,
    method: ['PUT', 'PATCH', 'OPTIONS', 'HEAD'],
    handler: () => Promise.reject(new NotAllowed('GET, POST, DELETE')),
  })
  // Before the server stops listening: waiting calls get their answers, streams end.
  app.addHook('preClose', () => engine.close())
}

async function openStream<Scope>(mount: Mount<Scope>, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { engine } = mount.service
  const session = await requestSession(mount, request)
  if (!acceptsEvents(request.headers.accept))
    throw new Refusal(406, {
      code: rpcCodes.transport,
      message: 'Not Acceptable: Client must accept text/event-stream',
    })
  if (engine.stopping.aborted) throw new HubError('SHUTTING_DOWN', 'Parley is shutting down.')
  reply.hijack()
  const stream = reply.raw
  if (stream.destroyed) return
  stream.writeHead(200, withReplyHeaders(reply, { ...streamHeaders, ...lastOfItsConnection }))
  stream.flushHeaders()
  engine.streams.add(stream)
  const last = request.headers['last-event-id'] as string | undefined
  // A client that comes back has lost its stream, though the socket may still look open from here.
  if (last !== undefined) for (const old of session.streams) old.end()
  if (last !== undefined) session.streams.clear()
  session.streams.add(stream)
  const updates = updatesOf(mount, requestContextOf(mount, request), session)
  const forget = reply.server.endWithKey(request.raw, request.caller, () => stream.end())
  stream.once('close', () => {
    forget()
    engine.streams.delete(stream)
    session.streams.delete(stream)
    if (session.streams.size === 0) updates?.close()
  })
  if (updates === undefined) return
  const begun = (place: string) => {
    if (takesPriming(request)) writeEvent(stream, primingEvent(session.eventId(place)))
  }
  await updates
    .open(session.send, { last: last === undefined ? undefined : session.requestContextOf(last), begun })
    .catch((error: unknown) => {
      engine.log.warn({ err: error }, 'a stream was not opened')
      stream.destroy()
    })
}

/** Clients of older revisions stumble over an event without data. */
const takesPriming = ({ headers }: FastifyRequest): boolean =>
  String(headers['mcp-protocol-version'] ?? '') >= '2025-11-25'

async function endSession<Scope>(mount: Mount<Scope>, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const session = await requestSession(mount, request)
  await mount.service.engine.sessions?.end(request.caller, session)
  return reply.code(200).send()
}

function requestSession<Scope>(mount: Mount<Scope>, request: FastifyRequest) {
  const place = requestContextOf(mount, request)
  const token = request.headers['mcp-session-id'] as string | undefined
  // There is a stream for those who have a session, and for nobody else.
  if (token === undefined) throw new NotAllowed('POST')
  return sessionOf(mount, place, token)
}

/** `allowed`: the methods that this client can use here. */
class NotAllowed extends Refusal {
  readonly allowed: string

  constructor(allowed: string) {
    super(405, { code: rpcCodes.transport, message: 'Method not allowed.' })
    this.allowed = allowed
  }
}

/** A client of MCP reads every refusal as a JSON-RPC error. */
async function refuse(
  engine: Engine,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal = error instanceof Refusal ? error : (unreadable(error) ?? badBody(error))
  if (refusal?.status === 413) await drain(request.raw)
  if (refusal !== undefined) {
    if (refusal instanceof NotAllowed) reply.header('allow', refusal.allowed)
    return send(reply, refusal.status, errorText(idOf(request), refusal))
  }
  const hubError = asHubError(error)
  if (hubError.retryAfter !== undefined) reply.header('retry-after', String(hubError.retryAfter))
  if (isUnexpected(hubError) && !isCutOff(request.raw)) engine.log.error({ err: error }, 'a request failed')
  const text = isShortForm(request.body)
    ? JSON.stringify(errorShape(hubError))
    : errorText(idOf(request), rpcError(hubError))
  return send(reply, statusOf(hubError), text)
}

const send = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.code(status).type('application/json').send(text)

/** The id of the request that is refused, where it could be read. */
function idOf({ method, body }: FastifyRequest): string | number | null {
  if (method !== 'POST' || !isRecord(body) || typeof body.method !== 'string') return null
  return typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null
}

/** Errors in reading the body, in the words of the protocol. */
function badBody(error: FastifyError): Refusal | undefined {
  if (error.statusCode === 413)
    return new Refusal(413, {
      code: rpcCodes.transport,
      message: `Payload Too Large: Request body must not exceed ${limits.requestBytes} bytes`,
    })
  if (error.statusCode === 415) return wrongType()
  if (!(error instanceof HttpRefusal) || error.status !== 400) return undefined
  return new Refusal(400, {
    code: ProtocolErrorCode.ParseError,
    message: 'Parse error: the request body is not valid JSON',
  })
}
