/** Reads one incoming message: which era it speaks, whether it is a request, and whether it may be served at all. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  RELATED_TASK_META_KEY,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { echo } from '../../../base/text.ts'
import { agrees, checkHeaders, checkLegacyVersion, type StandardHeaders } from '../http/headers.ts'
import { isRecord, type Json } from './json.ts'
import { Refusal } from './refusal.ts'
import { type EraName, isModern, modernVersions } from './versions.ts'

type Inbound =
  | { readonly kind: 'request'; readonly era: EraName; readonly message: JSONRPCRequest }
  | { readonly kind: 'notification'; readonly era: EraName; readonly message: JSONRPCNotification }
  | { readonly kind: 'response'; readonly message: JSONRPCResponse }

/** Throws a Refusal, in the words of the SDK, wherever the SDK would refuse too. */
export function readInbound(body: unknown, headers: StandardHeaders | undefined): Inbound {
  if (isPlainRequest(body)) {
    const meta = body.params?._meta
    const stated = meta?.[PROTOCOL_VERSION_META_KEY]
    if (stated === undefined && !isModern(headers?.version)) return legacyRequest(body, headers)
    if (stated === modernVersions[0] && agrees(body, headers) && judged.has(envelopeOf(meta)))
      return { kind: 'request', era: 'modern', message: body }
  }
  return judge(body, headers)
}

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
 * real one costs more than the whole call (27 of 47 µs). Bounded, because clients write the text.
 */
const judged = new Set<string>()
const maxJudged = 1000
const maxEnvelope = 4096

/** An object and not a list: an absent field then differs from null. */
const envelopeOf = (meta: Json | undefined): string =>
  JSON.stringify({
    capabilities: meta?.[CLIENT_CAPABILITIES_META_KEY],
    client: meta?.[CLIENT_INFO_META_KEY],
    level: meta?.[LOG_LEVEL_META_KEY],
  })

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
    if (outcome.reason === 'response') return { kind: 'response', message: body as JSONRPCResponse }
    if (isJSONRPCRequest(body)) return legacyRequest(body, headers)
    checkLegacyVersion(headers)
    return { kind: 'notification', era: 'legacy', message: body as JSONRPCNotification }
  }
  const revision = echo(outcome.classification.revision ?? 'unknown')
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
