/** A request that is refused before any handler sees it: the HTTP status and the JSON-RPC error it is answered with. */
import { ProtocolError } from '@modelcontextprotocol/server'
import { type HubError, kinds } from '../../../base/errors.ts'

/** Codes that JSON-RPC leaves to implementations, as the reference implementation uses them. */
export const rpcCodes = { transport: -32000, unknownSession: -32001, headerMismatch: -32020 } as const

export class Refusal extends ProtocolError {
  readonly status: number

  constructor(status: number, error: { code: number; message: string; data?: unknown }) {
    super(error.code, error.message, error.data)
    this.status = status
  }
}

export const wrongType = (): Refusal =>
  new Refusal(415, {
    code: rpcCodes.transport,
    message: 'Unsupported Media Type: Content-Type must be application/json',
  })

/** A JSON-RPC error keeps the hub's code and hint in its data: agents read them there. */
export function rpcError(error: HubError): { code: number; message: string; data: object } {
  const { code, message, hint } = error
  return { code: kinds[error.kind].rpc, message, data: hint === undefined ? { code } : { code, hint } }
}

export function errorText(
  id: unknown,
  { code, message, data }: { code: number; message: string; data?: unknown },
): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message, data } })
}
