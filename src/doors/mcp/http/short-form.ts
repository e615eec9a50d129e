/** The short form of a tool call, for `curl` and scripts: `{"tool": …, "args": {…}}` is answered with the bare value. */
import type { FastifyReply } from 'fastify'
import { asHubError, errorShape, HubError, kinds } from '../../../base/errors.ts'
import { unknownTool } from '../offers.ts'
import { runTool } from '../protocol/call.ts'
import { isRecord, type Json } from '../protocol/json.ts'
import type { Service } from '../protocol/service.ts'
import { HttpExchange } from './exchange.ts'
import { peerOf } from './incoming.ts'
import type { Mount, RequestContext } from './mount.ts'

export const isShortForm = (body: unknown): body is Json => isRecord(body) && 'tool' in body && !('jsonrpc' in body)

export function answerShortForm<Scope>(
  mount: Mount<Scope>,
  place: RequestContext<Scope>,
  body: Json,
  reply: FastifyReply,
): void {
  const { service } = mount
  const exchange = new HttpExchange({
    id: null,
    peer: peerOf(mount, place, undefined, undefined),
    engine: service.engine,
    reply,
  })
  void answer(service, body, exchange)
    .then(([text, status]) => exchange.finish(text, status))
    .catch(async (thrown: unknown) => {
      service.engine.log.error({ err: thrown, door: service.door.name }, 'a result could not be written')
      await exchange.takeBack()
      exchange.finish(...failed(asHubError(thrown)))
    })
}

async function answer<Scope>(
  service: Service<Scope>,
  { tool: name, args }: Json,
  exchange: HttpExchange<Scope>,
): Promise<[string, number]> {
  const offered = service.offered(exchange.scope)
  const row = typeof name === 'string' ? offered.tools.get(name) : undefined
  if (row === undefined) {
    const { message, hint } = unknownTool(service.tools, offered, name)
    return failed(new HubError('INVALID_ARGUMENT', message, { hint }))
  }
  const result = await runTool({ service, row, args, exchange })
  if (!result.ok) return failed(result.error)
  const { value } = result
  return [JSON.stringify((row.tool.short ? row.tool.short(value) : value) ?? null), 200]
}

const failed = (error: HubError): [string, number] => [JSON.stringify(errorShape(error)), kinds[error.kind].status]
