/** The part that the HTTP methods of one mounted door share: caller, scope and session of a request. */
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../../core/access/callers.ts'
import type { Eras } from '../protocol/eras.ts'
import type { ClientInfo } from '../protocol/exchange.ts'
import { Refusal, rpcCodes } from '../protocol/refusal.ts'
import type { Service } from '../protocol/service.ts'
import type { Session } from '../protocol/sessions.ts'
import { SessionUpdates, updatesFor } from '../protocol/updates.ts'
import { nameIn, withRun } from './naming.ts'

/** The scope that a door reads from the URL. `key` names the path in one spelling: sessions are bound to it. */
export type ReadScope<Scope> = (
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string | string[] | undefined>>,
  caller: Caller,
  /** How errors call the place where the query parameter `agent` stands: it may be a header. */
  called: string,
) => { readonly scope: Scope; readonly key: string }

export interface Mount<Scope> {
  readonly service: Service<Scope>
  readonly eras: Eras<Scope>
  readonly scope: ReadScope<Scope>
}

/** Where a request arrived: read once, before anything is done for it. */
export interface RequestContext<Scope> {
  readonly caller: Caller
  readonly scope: Scope
  readonly key: string
  /** Where the request comes from. */
  readonly address: string
}

export function requestContextOf<Scope>({ scope }: Mount<Scope>, request: FastifyRequest): RequestContext<Scope> {
  const { params, caller, raw, server } = request
  const { query, called } = nameIn(request, request.query as Record<string, string>)
  const read = scope(params as Record<string, string>, withRun(request.headers, query), caller, called)
  return { caller, scope: read.scope, key: read.key, address: server.clientAddress(raw) }
}

/** The session a token names, if it belongs to this door, path and caller. A promise only when it is not in memory. */
export function sessionOf<Scope>(
  { service }: Mount<Scope>,
  place: RequestContext<Scope>,
  token: string,
): Session | Promise<Session> {
  const { sessions } = service.engine
  const check = (session: Session | undefined): Session => {
    const { door, path, caller } = session?.claims ?? {}
    // The owner goes on undisturbed; its id is a secret, and is not repeated (hub.sessions.stolen).
    if (session !== undefined && caller !== place.caller.key)
      service.engine.log.warn(
        { door: service.door.name, caller: place.caller.key },
        'a session of another caller was used',
      )
    if (session === undefined || door !== service.door.name || path !== place.key || caller !== place.caller.key)
      throw new Refusal(404, { code: rpcCodes.unknownSession, message: 'Session not found' })
    return session
  }
  const held = sessions?.held(token)
  if (held !== undefined || sessions === undefined) return check(held)
  return sessions.resume(token).then(check)
}

export function issueToken<Scope>(
  { service }: Mount<Scope>,
  { key, caller }: RequestContext<Scope>,
  client: ClientInfo,
): string | undefined {
  return service.engine.sessions?.issue({ door: service.door.name, path: key, caller: caller.key, client })
}

/** The resources that the client of a session follows, at doors with subscriptions; made with the first use in this process. */
export function updatesOf<Scope>(
  { service }: Mount<Scope>,
  { caller, scope }: RequestContext<Scope>,
  session: Session | undefined,
): SessionUpdates | undefined {
  const { sessions, log } = service.engine
  const { updates } = service.door
  if (updates === undefined || sessions === undefined || session === undefined) return undefined
  const { conversation } = session
  conversation.updates ??= new SessionUpdates({
    updates: updatesFor(updates, { caller, scope }),
    followed: sessions.followedBy(session, caller),
    failed: (error) => log.warn({ err: error, door: service.door.name }, 'a session could not be told of changes'),
  })
  return conversation.updates
}
