/** POST: a request, a notification, a batch, or the short form of a tool call. */
import {
  CLIENT_INFO_META_KEY,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../../core/access/callers.ts'
import { answerBatch } from '../protocol/batch.ts'
import { dispatch } from '../protocol/dispatch.ts'
import type { ClientInfo, Peer } from '../protocol/exchange.ts'
import { readInbound } from '../protocol/inbound.ts'
import { wrongType } from '../protocol/refusal.ts'
import type { Session } from '../protocol/sessions.ts'
import type { EraName } from '../protocol/versions.ts'
import { admit } from './admission.ts'
import { HttpExchange } from './exchange.ts'
import type { StandardHeaders } from './headers.ts'
import { issueToken, type Mount, type RequestContext, requestContextOf, sessionOf, updatesOf } from './mount.ts'
import { answerShortForm, isShortForm } from './short-form.ts'

/** Returns a promise only where it has to wait; the way of almost every request has none. */
export function receive<Scope>(
  mount: Mount<Scope>,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const { body, headers } = request
  // Fastify reads no body that has no type.
  if (body === undefined) throw wrongType()
  const place = requestContextOf(mount, request)
  if (mount.service.door.shortForm && isShortForm(body))
    return withCaller(mount, place, { method: 'tools/call', tool: body.tool }, (place) =>
      answerShortForm(mount, place, body, reply),
    )
  const token = headers['mcp-session-id'] as string | undefined
  if (Array.isArray(body))
    return withSession(mount, place, token, (session) => answerBatch({ mount, place, session, body, reply }))

  const inbound = readInbound(body, standardHeaders(headers))
  if (inbound.kind === 'response')
    return withSession(mount, place, token, (session) =>
      withCaller(mount, place, { method: 'response' }, () => {
        session?.conversation.answer(inbound.message)
        accept(reply)
      }),
    )
  if (inbound.kind === 'notification') {
    const session = inbound.era === 'modern' ? undefined : token
    return withSession(mount, place, session, (session) =>
      withCaller(mount, place, inbound.message, () => {
        takeNotification(session, inbound.message)
        accept(reply)
      }),
    )
  }
  const { era, message } = inbound
  const known = era === 'modern' || message.method === 'initialize' ? undefined : token
  return withSession(mount, place, known, (session) =>
    withCaller(mount, place, { method: message.method, tool: message.params?.name }, (place) =>
      serve({ mount, place, session, era, message, reply }),
    ),
  )
}

/** Goes on for the caller that the message is admitted for. */
function withCaller<Scope>(
  { service }: Mount<Scope>,
  place: RequestContext<Scope>,
  message: { readonly method: string; readonly tool?: unknown },
  next: (place: RequestContext<Scope>) => void,
): void | Promise<void> {
  const enter = (caller: Caller) => next(caller === place.caller ? place : { ...place, caller })
  const caller = admit(service, place, message)
  return caller instanceof Promise ? caller.then(enter) : enter(caller)
}

function withSession<Scope>(
  mount: Mount<Scope>,
  place: RequestContext<Scope>,
  token: string | undefined,
  next: (session: Session | undefined) => void | Promise<void>,
): void | Promise<void> {
  if (token === undefined) return next(undefined)
  const session = sessionOf(mount, place, token)
  return session instanceof Promise ? session.then(next) : next(session)
}

interface Serving<Scope> {
  readonly mount: Mount<Scope>
  readonly place: RequestContext<Scope>
  readonly session: Session | undefined
  readonly era: EraName
  readonly message: JSONRPCRequest
  readonly reply: FastifyReply
}

function serve<Scope>({ mount, place, session, era, message, reply }: Serving<Scope>): void {
  const { service, eras } = mount
  const client = era === 'modern' ? clientOf(message) : session?.claims.client
  const exchange = new HttpExchange({
    id: message.id,
    peer: peerOf(mount, place, session, client),
    engine: service.engine,
    reply,
    issue: message.method === 'initialize' ? (client) => issueToken(mount, place, client) : undefined,
  })
  void dispatch(service, eras[era], message, exchange)
}

export const peerOf = <Scope>(
  mount: Mount<Scope>,
  place: RequestContext<Scope>,
  session: Session | undefined,
  client: ClientInfo | undefined,
): Peer<Scope> => ({
  caller: place.caller,
  scope: place.scope,
  client,
  session: session?.claims.nonce,
  conversation: session?.conversation,
  updates: updatesOf(mount, place, session),
})

export const clientOf = ({ params }: JSONRPCRequest): ClientInfo | undefined =>
  params?._meta?.[CLIENT_INFO_META_KEY] as ClientInfo | undefined

/** Over HTTP a modern client cancels by hanging up; before that era it says so, within its session. */
export function takeNotification(
  session: Pick<Session, 'conversation'> | undefined,
  { method, params }: JSONRPCNotification,
): void {
  if (method === 'notifications/cancelled') session?.conversation.cancel(params?.requestId as RequestId)
  if (method === 'notifications/roots/list_changed' && session !== undefined) session.conversation.folder = undefined
}

const accept = (reply: FastifyReply): void => void reply.code(202).send()

const standardHeaders = (headers: FastifyRequest['headers']): StandardHeaders => ({
  version: headers['mcp-protocol-version'] as string | undefined,
  method: headers['mcp-method'] as string | undefined,
  name: headers['mcp-name'] as string | undefined,
})
