/** JSON-RPC messages as far as the front of a door looks at them: what they are, their headers, and which may be repeated. */
import { nameFieldOf } from '../mcp/http/name-field.ts'

export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Params
  readonly result?: Record<string, unknown>
  readonly error?: unknown
}

interface Params {
  readonly _meta?: Record<string, unknown>
  readonly [field: string]: unknown
}

export type Request = Message & { readonly id: string | number; readonly method: string }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function parseMessage(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return isRecord(message) && message.jsonrpc === '2.0' ? (message as Message) : undefined
  } catch {
    return undefined
  }
}

export const isRequest = (message: Message): message is Request =>
  message.method !== undefined && message.id !== undefined

const versionKey = 'io.modelcontextprotocol/protocolVersion'

/** The revision that a message of the newer era names itself; undefined in the older one, where the session knows. */
export function modernVersion({ params }: Message): string | undefined {
  const version = params?._meta?.[versionKey]
  return typeof version === 'string' ? version : undefined
}

export const progressToken = ({ params }: Message): unknown => params?._meta?.progressToken

/** The resources that a `subscriptions/listen` of the newer era names; of any other request none. */
export function listenedTo({ method, params }: Message): readonly unknown[] {
  const { resourceSubscriptions: uris } = (params?.notifications ?? {}) as { resourceSubscriptions?: unknown }
  return method === 'subscriptions/listen' && Array.isArray(uris) ? uris : []
}

/** The headers with which the newer era repeats the body. */
export function modernHeaders(message: Message, version: string): Record<string, string> {
  const { method = '', params } = message
  const field = nameFieldOf(method)
  const name = field === undefined ? undefined : params?.[field]
  return {
    'mcp-protocol-version': version,
    'mcp-method': encoded(method),
    ...(typeof name === 'string' && { 'mcp-name': encoded(name) }),
  }
}

/** A header holds visible ASCII; everything else is said in base64. */
const encoded = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** The argument by which a door knows a repeated send. */
const clientIds: Readonly<Record<string, string>> = {
  send_to_agent: 'msg_id',
  send_message: 'client_message_id',
  reply_message: 'client_message_id',
  'apm2.message.send': 'client_message_id',
  'apm2.message.ask': 'client_message_id',
  'apm2.message.broadcast': 'client_message_id',
}

/** A send with an id of its own, so that repeating it stores nothing twice (connect.restart.send); any other request as it is. */
export function withClientId(request: Request, newId: () => string): Request {
  const { params } = request
  const args = params?.arguments
  if (!isRecord(args)) return request
  const change = (changed: Record<string, unknown>): Request => ({
    ...request,
    params: { ...params, arguments: { ...args, ...changed } },
  })
  const keyed = (message: Record<string, unknown>, field: string) => ({
    ...message,
    [field]: message[field] ?? newId(),
  })
  if (isSync(request) && Array.isArray(args.outbox))
    return change({ outbox: args.outbox.map((one) => (isRecord(one) ? keyed(one, 'client_message_id') : one)) })
  const field = sendField(request)
  return field === undefined ? request : change(keyed(args, field))
}

const isSync = ({ method, params }: Request): boolean => method === 'tools/call' && params?.name === 'sync'

const sendField = ({ method, params }: Request): string | undefined => {
  const tool = method === 'tools/call' ? params?.name : undefined
  return typeof tool === 'string' && Object.hasOwn(clientIds, tool) ? clientIds[tool] : undefined
}

/** Messages in other forms than a list have no ids of ours. */
const isKeyedSync = (request: Request): boolean => {
  const { outbox } = (request.params?.arguments ?? {}) as { outbox?: unknown }
  return isSync(request) && ((outbox ?? null) === null || (Array.isArray(outbox) && outbox.every(isRecord)))
}

/** Whether a request that may have been done already can be sent again. `safe`: tools that say so of themselves. */
export function isRepeatable(request: Request, safe: ReadonlySet<string>): boolean {
  if (request.method !== 'tools/call') return true
  return sendField(request) !== undefined || isKeyedSync(request) || safe.has(String(request.params?.name))
}

/** The tools of an answered list that read, or may be called twice. */
export function repeatableTools({ result }: Message): string[] {
  const tools = Array.isArray(result?.tools) ? (result.tools as unknown[]) : []
  return tools.flatMap((tool) => {
    if (!isRecord(tool) || !isRecord(tool.annotations) || typeof tool.name !== 'string') return []
    return tool.annotations.readOnlyHint === true || tool.annotations.idempotentHint === true ? [tool.name] : []
  })
}
