/** The headers of 2026-07-28 that repeat the body, so that proxies need not read it. */
import type { JSONRPCRequest } from '@modelcontextprotocol/server'
import { echo } from '../../../base/text.ts'
import { Refusal, rpcCodes } from '../protocol/refusal.ts'
import { legacyVersions, modernVersions } from '../protocol/versions.ts'
import { nameFieldOf } from './name-field.ts'

export interface StandardHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

/** Whether the headers plainly repeat the body; anything less plain is left to `judge`. */
export function agrees({ method, params }: JSONRPCRequest, headers: StandardHeaders | undefined): boolean {
  if (headers === undefined) return true
  if (headers.version !== modernVersions[0] || headers.method !== method) return false
  const field = nameFieldOf(method)
  if (field === undefined) return true
  return headers.name !== undefined && headers.name === params?.[field] && !headers.name.startsWith(encodedPrefix)
}

/** Before that revision only the version was in a header, and only so that an unknown one could be refused. */
export function checkLegacyVersion(headers: StandardHeaders | undefined): void {
  const version = headers?.version
  if (version === undefined || legacyVersions.includes(version)) return
  const supported = [...modernVersions, ...legacyVersions].join(', ')
  throw new Refusal(400, {
    code: rpcCodes.transport,
    message: `Bad Request: Unsupported protocol version: ${echo(version)} (supported versions: ${supported})`,
  })
}

/** Checks that the classifier leaves to the server: all three headers must be there, and the name must be the body's. */
export function checkHeaders({ method, params }: JSONRPCRequest, headers: StandardHeaders): void {
  if (headers.version === undefined) throw mismatch('(missing)', 'the required MCP-Protocol-Version header is absent')
  if (headers.method === undefined)
    throw mismatch('(missing)', `the body names method ${echo(method)} but the required Mcp-Method header is absent`)
  const field = nameFieldOf(method)
  const value = field === undefined ? undefined : params?.[field]
  if (field === undefined) return
  if (headers.name === undefined) {
    if (typeof value === 'string')
      throw mismatch('(missing)', `the body carries params.${field} but the required Mcp-Name header is absent`)
    return
  }
  const name = decodeName(headers.name)
  if (name === undefined) throw mismatch(headers.name, 'the Mcp-Name header carries an invalid Base64 value')
  if (typeof value === 'string' && name !== value)
    throw mismatch(headers.name, `the Mcp-Name header does not name params.${field} of the body`)
}

const mismatch = (header: string, body: string): Refusal =>
  new Refusal(400, {
    code: rpcCodes.headerMismatch,
    message: `Bad Request: the request headers and body disagree: ${body}`,
    data: { mismatch: { header, body } },
  })

const encodedPrefix = '=?base64?'

/** `=?base64?…?=` carries text that a header cannot; only the canonical spelling counts. */
function decodeName(header: string): string | undefined {
  if (!header.startsWith(encodedPrefix) || !header.endsWith('?=')) return header
  const encoded = header.slice(encodedPrefix.length, -2)
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
