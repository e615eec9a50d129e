/** A request that is refused before any handler sees it: the HTTP status and the JSON-RPC error it is answered with. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { HubError, kinds } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import { cut, echo } from '../../../base/text.ts'
import { isRecord } from './json.ts'

/** Codes that JSON-RPC leaves to implementations, as the reference implementation uses them. */
export const rpcCodes = { transport: -32000, unknownSession: -32001, headerMismatch: -32020 } as const

export class Refusal extends ProtocolError {
  readonly status: number

  constructor(status: number, error: { code: number; message: string; data?: unknown }) {
    super(error.code, cut(error.message, limits.errorLength), shortened(error.data))
    this.status = status
  }
}

/** The data of a refusal repeats what the client wrote: texts are cut (all.errors.short). */
function shortened(data: unknown): unknown {
  if (typeof data === 'string') return echo(data)
  if (Array.isArray(data)) return data.slice(0, limits.batchMessages).map(shortened)
  if (!isRecord(data)) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [echo(key), shortened(value)]))
}

/** JSON that was not even read is no valid request; other errors are none of ours. */
export const unreadable = (error: unknown): Refusal | undefined =>
  error instanceof HubError && error.reason === 'too_heavy'
    ? new Refusal(400, { code: ProtocolErrorCode.InvalidRequest, message: `Invalid Request: ${error.message}` })
    : undefined

export const wrongType = (): Refusal =>
  new Refusal(415, {
    code: rpcCodes.transport,
    message: 'Unsupported Media Type: Content-Type must be application/json',
  })

/** A JSON-RPC error has the hint in its message, since many clients show a model nothing else, and in its data with the code. */
export function rpcError(error: HubError): { code: number; message: string; data: object } {
  const { code, message, hint } = error
  const rpc = kinds[error.kind].rpc
  return hint === undefined
    ? { code: rpc, message, data: { code } }
    : { code: rpc, message: `${message} ${hint}`, data: { code, hint } }
}

export function errorText(
  id: unknown,
  { code, message, data }: { code: number; message: string; data?: unknown },
): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message, data } })
}
