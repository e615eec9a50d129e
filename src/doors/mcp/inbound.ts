/** Reads one posted message: which era it speaks, whether it is a request, and whether it may be served at all. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCNotification,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  RELATED_TASK_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { isRecord, type Json } from './json.ts'
import { Refusal, rpcCodes } from './refusal.ts'

export type EraName = 'legacy' | 'modern'

export type Inbound =
  | { readonly kind: 'request'; readonly era: EraName; readonly message: JSONRPCRequest }
  | { readonly kind: 'notification'; readonly era: EraName; readonly message: JSONRPCNotification }
  | { readonly kind: 'response' }

/** The headers that repeat what the body says, so that proxies need not read it; none on stdio. */
export interface StandardHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

export const modernVersions = ['2026-07-28'] as const
export const legacyVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS
const firstModern = modernVersions[0]

/** Throws a Refusal in the words of the SDK for what the SDK would not serve either. */
export function readInbound(body: unknown, headers: StandardHeaders | undefined): Inbound {
  if (isPlainRequest(body)) {
    const meta = body.params?._meta
    const claimed = meta?.[PROTOCOL_VERSION_META_KEY]
    if (claimed === undefined && !isModern(headers?.version)) return legacyRequest(body, headers)
    if (claimed === firstModern && agrees(body, headers) && judged.has(envelopeOf(meta)))
      return { kind: 'request', era: 'modern', message: body }
  }
  return judge(body, headers)
}

const isModern = (version: string | undefined): boolean => version !== undefined && version >= firstModern

/** The SDK's schema of a request, decided by hand: it says yes to nothing that the schema refuses, and costs a hundredth. */
function isPlainRequest(body: unknown): body is JSONRPCRequest {
  if (!isRecord(body) || body.jsonrpc !== '2.0' || typeof body.method !== 'string' || !isId(body.id)) return false
  for (const key in body) if (!requestKeys.has(key)) return false
  const { params } = body
  if (params === undefined) return true
  if (!isRecord(params)) return false
  const meta = params._meta
  if (meta === undefined) return true
  return (
    isRecord(meta) && (meta.progressToken === undefined || isId(meta.progressToken)) && !(RELATED_TASK_META_KEY in meta)
  )
}

const requestKeys = new Set(['jsonrpc', 'id', 'method', 'params'])

const isId = (value: unknown): boolean => typeof value === 'string' || Number.isSafeInteger(value)

/**
 * Envelopes the SDK has already judged good, as text. A client sends the same one with every request, and judging a
 * real one costs more than the whole call (27 of 47 µs, notes/serving.md). Bounded, because clients write the text.
 */
const judged = new Set<string>()
const maxJudged = 1000
const maxEnvelope = 4096

const envelopeOf = (meta: Json | undefined): string =>
  JSON.stringify([meta?.[CLIENT_CAPABILITIES_META_KEY], meta?.[CLIENT_INFO_META_KEY], meta?.[LOG_LEVEL_META_KEY]])

/** Which parameter `Mcp-Name` repeats (SEP-2243, SEP-2663). */
const nameField: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

const fieldOf = (method: string): string | undefined =>
  Object.hasOwn(nameField, method) ? nameField[method] : undefined

/** Whether the headers plainly repeat the body; anything less plain is left to `judge`. */
function agrees({ method, params }: JSONRPCRequest, headers: StandardHeaders | undefined): boolean {
  if (headers === undefined) return true
  if (headers.version !== firstModern || headers.method !== method) return false
  const field = fieldOf(method)
  if (field === undefined) return true
  return headers.name !== undefined && headers.name === params?.[field] && !headers.name.startsWith(encodedPrefix)
}

function judge(body: unknown, headers: StandardHeaders | undefined): Inbound {
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(headers?.version !== undefined && { protocolVersionHeader: headers.version }),
    ...(headers?.method !== undefined && { mcpMethodHeader: headers.method }),
    ...(headers?.name !== undefined && { mcpNameHeader: headers.name }),
  })
  if (outcome.kind === 'reject') throw new Refusal(outcome.httpStatus, outcome)
  if (outcome.kind === 'legacy') {
    if (outcome.reason === 'response') return { kind: 'response' }
    if (isJSONRPCRequest(body)) return legacyRequest(body, headers)
    checkLegacyVersion(headers)
    return { kind: 'notification', era: 'legacy', message: body as JSONRPCNotification }
  }
  const revision = outcome.classification.revision ?? 'unknown'
  if (!modernVersions.some((version) => version === revision))
    throw new Refusal(400, new UnsupportedProtocolVersionError({ supported: [...modernVersions], requested: revision }))
  if (outcome.messageKind === 'notification') return { kind: 'notification', era: 'modern', message: outcome.message }
  if (headers !== undefined) checkHeaders(outcome.message, headers)
  remember(envelopeOf(outcome.message.params?._meta))
  return { kind: 'request', era: 'modern', message: outcome.message }
}

function remember(envelope: string): void {
  if (envelope.length > maxEnvelope) return
  if (judged.size >= maxJudged) judged.clear()
  judged.add(envelope)
}

function legacyRequest(message: JSONRPCRequest, headers: StandardHeaders | undefined): Inbound {
  if (message.method !== 'initialize') checkLegacyVersion(headers)
  return { kind: 'request', era: 'legacy', message }
}

function checkLegacyVersion(headers: StandardHeaders | undefined): void {
  const version = headers?.version
  if (version === undefined || legacyVersions.includes(version)) return
  const supported = [...modernVersions, ...legacyVersions].join(', ')
  throw new Refusal(400, {
    code: rpcCodes.transport,
    message: `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`,
  })
}

/** What the classifier leaves to the server: all three headers must be there, and the name must be the body's. */
function checkHeaders({ method, params }: JSONRPCRequest, headers: StandardHeaders): void {
  if (headers.version === undefined) throw mismatch('(missing)', 'the required MCP-Protocol-Version header is absent')
  if (headers.method === undefined)
    throw mismatch('(missing)', `the body names method ${method} but the required Mcp-Method header is absent`)
  const field = fieldOf(method)
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

/** `=?base64?…?=` carries what a header cannot; only the canonical spelling counts. */
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
