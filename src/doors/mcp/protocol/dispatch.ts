/** The dispatcher: one request in, its answer out, whatever wire and era it came by. */
import { type JSONRPCRequest, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { isUnexpected } from '../../../base/errors.ts'
import { InputRequired } from './dialogue.ts'
import type { Era } from './eras.ts'
import type { Exchange } from './exchange.ts'
import type { Handler } from './methods.ts'
import { errorText, Refusal, rpcError } from './refusal.ts'
import type { Service } from './service.ts'

const noParams = Object.freeze({})

/** Never rejects: a failure is an answer too. */
export async function dispatch<Scope>(
  service: Service<Scope>,
  era: Era<Scope>,
  message: JSONRPCRequest,
  exchange: Exchange<Scope>,
): Promise<void> {
  let text: string
  let status = 200
  try {
    const handler = handlerOf(era, message.method)
    const result = await handler({ message, params: message.params ?? noParams, exchange, era })
    text = resultText(message, result)
  } catch (error) {
    await exchange.takeBack()
    if (error instanceof InputRequired) text = resultText(message, era.encode(message.method, error.result))
    else {
      const wire = toWire(service, message.method, { error, scope: exchange.scope })
      text = errorText(message.id, wire)
      status = statusOf(wire)
    }
  }
  exchange.finish(text, status)
}

const resultText = ({ id }: JSONRPCRequest, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

function handlerOf<Scope>({ methods, unknownMethodStatus }: Era<Scope>, method: string): Handler<Scope> {
  const handler = methods.get(method)
  if (handler !== undefined) return handler
  throw new Refusal(unknownMethodStatus, { code: ProtocolErrorCode.MethodNotFound, message: 'Method not found' })
}

function toWire<Scope>(
  { engine, door, word }: Service<Scope>,
  method: string,
  { error: thrown, scope }: { error: unknown; scope: Scope },
): { code: number; message: string; data?: unknown; status?: number } {
  if (thrown instanceof ProtocolError) return thrown
  const error = word(thrown, scope)
  if (isUnexpected(error)) engine.log.error({ err: thrown, door: door.name, method }, 'a request failed')
  return rpcError(error)
}

/** An error of a handler is an answer like any other, but for the one the protocol ties to a status. */
const statusOf = ({ code, status }: { code: number; status?: number }): number =>
  status ?? (code === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200)
