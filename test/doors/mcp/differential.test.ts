/** The same requests to the engine and to the SDK's own handler: where they differ, this file says so and why. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fixture, startFixture } from './fixture.ts'
import { startReference } from './reference.ts'
import { type Answer, both, http, rpc, type Sent } from './use.ts'

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request of the newest era with the headers it needs. */
function modern(method: string, params: Record<string, unknown> = {}, headers: Record<string, string> = {}): Sent {
  const name = params.name ?? params.uri
  return {
    headers: {
      accept: both,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
    body: rpc(method, { ...params, _meta: params._meta ?? meta }),
  }
}

const legacy = (body: unknown, headers: Record<string, string> = {}): Sent => ({
  headers: { accept: both, ...headers },
  body,
})

const without = (sent: Sent, header: string): Sent => {
  const { [header]: _, ...headers } = sent.headers ?? {}
  return { ...sent, headers }
}

const echo = { name: 'echo', arguments: { text: 'x' } }
const client = { capabilities: {}, clientInfo: { name: 'x', version: '1' } }
const key = 'io.modelcontextprotocol/'

const cases: Record<string, Sent> = {
  // Before 2026-07-28
  initialize: legacy(rpc('initialize', { protocolVersion: '2025-11-25', ...client })),
  'initialize, an older revision': legacy(rpc('initialize', { protocolVersion: '2024-11-05', ...client })),
  'initialize, an unknown revision': legacy(rpc('initialize', { protocolVersion: '1999-01-01', ...client })),
  'initialize without a client': legacy(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} })),
  'initialize without parameters': legacy(rpc('initialize')),
  'initialize under a modern header': legacy(rpc('initialize', { protocolVersion: '2025-11-25', ...client }), {
    'mcp-protocol-version': '2026-07-28',
  }),
  ping: legacy(rpc('ping')),
  'ping, id a string': legacy(rpc('ping', undefined, 'a')),
  'tools/list': legacy(rpc('tools/list')),
  'tools/list, a cursor': legacy(rpc('tools/list', { cursor: 'x' })),
  'tools/list, a bad cursor': legacy(rpc('tools/list', { cursor: 5 })),
  'tools/call': legacy(rpc('tools/call', echo)),
  'tools/call, text only': legacy(rpc('tools/call', { name: 'text' })),
  'tools/call, unknown tool': legacy(rpc('tools/call', { name: 'nope' })),
  'tools/call without a name': legacy(rpc('tools/call', {})),
  'tools/call without parameters': legacy(rpc('tools/call')),
  'tools/call, arguments a list': legacy(rpc('tools/call', { name: 'echo', arguments: [] })),
  'tools/call, arguments null': legacy(rpc('tools/call', { name: 'echo', arguments: null })),
  'resources/list': legacy(rpc('resources/list')),
  'resources/templates/list': legacy(rpc('resources/templates/list')),
  'resources/read': legacy(rpc('resources/read', { uri: 'test://static' })),
  'resources/read, unknown': legacy(rpc('resources/read', { uri: 'test://nothing' })),
  'resources/read without a uri': legacy(rpc('resources/read', {})),
  'resources/subscribe': legacy(rpc('resources/subscribe', { uri: 'test://static' })),
  'resources/subscribe without a uri': legacy(rpc('resources/subscribe', {})),
  'resources/unsubscribe': legacy(rpc('resources/unsubscribe', { uri: 'test://static' })),
  'prompts/list': legacy(rpc('prompts/list')),
  'prompts/get': legacy(rpc('prompts/get', { name: 'x' })),
  'logging/setLevel': legacy(rpc('logging/setLevel', { level: 'info' })),
  'logging/setLevel, no level': legacy(rpc('logging/setLevel', { level: 'loud' })),
  'completion/complete': legacy(
    rpc('completion/complete', { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: 'b' } }),
  ),
  'an unknown method': legacy(rpc('nope/nope')),
  'server/discover without an envelope': legacy(rpc('server/discover')),
  'a method named like a property': legacy(rpc('constructor')),
  'a notification': legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  'an unknown notification': legacy({ jsonrpc: '2.0', method: 'notifications/nope' }),
  'a posted response': legacy({ jsonrpc: '2.0', id: 1, result: {} }),
  'a posted error': legacy({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }),
  'a known version header': legacy(rpc('ping'), { 'mcp-protocol-version': '2025-06-18' }),
  'an unknown version header': legacy(rpc('ping'), { 'mcp-protocol-version': '1999-01-01' }),
  'an unknown version header on a notification': legacy(
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { 'mcp-protocol-version': '1999-01-01' },
  ),
  'a batch': legacy([rpc('ping', undefined, 1), rpc('ping', undefined, 2)]),
  'a batch of one': legacy([rpc('ping')]),
  'a batch of notifications': legacy([{ jsonrpc: '2.0', method: 'notifications/initialized' }]),
  'a batch that initialises': legacy([
    rpc('initialize', { protocolVersion: '2025-03-26', ...client }),
    rpc('ping', undefined, 2),
  ]),
  'a batch of one that initialises': legacy([rpc('initialize', { protocolVersion: '2025-03-26', ...client })]),
  'an empty batch': legacy([]),
  'a long batch': legacy(Array.from({ length: 101 }, (_, id) => rpc('ping', undefined, id))),
  'a batch with a stranger': legacy([rpc('ping'), { hello: 1 }]),
  'a batch with a modern request': legacy([rpc('tools/list', { _meta: meta })]),
  'accepting JSON only': { headers: { accept: 'application/json' }, body: rpc('ping') },
  'accepting events only': { headers: { accept: 'text/event-stream' }, body: rpc('ping') },
  'accepting anything': { headers: { accept: '*/*' }, body: rpc('ping') },
  'accepting nothing': { body: rpc('ping') },
  'accepting HTML': { headers: { accept: 'text/html' }, body: rpc('ping') },

  // Shapes
  'not JSON': legacy('{"jsonrpc":'),
  'an empty body': legacy(''),
  'a string': legacy('"x"'),
  'null for a body': legacy('null'),
  'not a message': legacy({ hello: 1 }),
  'another JSON-RPC': legacy({ jsonrpc: '1.0', id: 1, method: 'ping' }),
  'no JSON-RPC': legacy({ id: 1, method: 'ping' }),
  'a member too many': legacy({ ...rpc('ping'), extra: 1 }),
  'id null': legacy({ jsonrpc: '2.0', id: null, method: 'ping' }),
  'id a half': legacy({ jsonrpc: '2.0', id: 1.5, method: 'ping' }),
  'id an object': legacy({ jsonrpc: '2.0', id: {}, method: 'ping' }),
  'method a number': legacy({ jsonrpc: '2.0', id: 1, method: 5 }),
  'parameters a list': legacy({ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }),
  'parameters null': legacy({ jsonrpc: '2.0', id: 1, method: 'ping', params: null }),
  '_meta a string': legacy(rpc('ping', { _meta: 'x' })),
  'a progress token that is none': legacy(rpc('ping', { _meta: { progressToken: {} } })),
  'a related task that is none': legacy(rpc('ping', { _meta: { 'io.modelcontextprotocol/related-task': 5 } })),
  'text/plain': { headers: { accept: both, 'content-type': 'text/plain' }, body: rpc('ping') },
  'a charset': { headers: { accept: both, 'content-type': 'application/json; charset=utf-8' }, body: rpc('ping') },
  'too large': legacy(rpc('ping', { x: 'x'.repeat(4 << 20) })),
  GET: { method: 'GET', headers: { accept: both } },
  DELETE: { method: 'DELETE', headers: { accept: both } },
  PUT: { method: 'PUT', headers: { accept: both }, body: rpc('ping') },

  // 2026-07-28
  'modern discover': modern('server/discover'),
  'modern tools/list': modern('tools/list'),
  'modern tools/list, a bad cursor': modern('tools/list', { cursor: 5 }),
  'modern tools/call': modern('tools/call', echo),
  'modern tools/call, text only': modern('tools/call', { name: 'text' }),
  'modern tools/call, unknown tool': modern('tools/call', { name: 'nope' }),
  'modern tools/call without a name': modern('tools/call'),
  'modern tools/call, arguments a list': modern('tools/call', { name: 'echo', arguments: [] }),
  'modern resources/list': modern('resources/list'),
  'modern resources/templates/list': modern('resources/templates/list'),
  'modern resources/read': modern('resources/read', { uri: 'test://static' }),
  'modern resources/read, unknown': modern('resources/read', { uri: 'test://nothing' }),
  'modern resources/read without a uri': modern('resources/read'),
  'modern prompts/list': modern('prompts/list'),
  'modern prompts/get': modern('prompts/get', { name: 'x' }),
  'modern completion/complete': modern('completion/complete', {
    ref: { type: 'ref/prompt', name: 'x' },
    argument: { name: 'a', value: 'b' },
  }),
  'modern ping': modern('ping'),
  'modern initialize': modern('initialize', { protocolVersion: '2026-07-28', ...client }),
  'modern resources/subscribe': modern('resources/subscribe', { uri: 'test://static' }),
  'modern logging/setLevel': modern('logging/setLevel', { level: 'info' }),
  'modern tasks/get': modern('tasks/get', { taskId: 'x' }, { 'mcp-name': 'x' }),
  'modern unknown method': modern('nope/nope'),
  'modern listen to nothing': modern('subscriptions/listen', { notifications: {} }),
  'modern listen to a list': modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
  'modern listen without a filter': modern('subscriptions/listen'),
  'modern listen, a bad filter': modern('subscriptions/listen', { notifications: { resourceSubscriptions: 'x' } }),
  'modern without the version header': without(modern('tools/list'), 'mcp-protocol-version'),
  'modern without the method header': without(modern('tools/list'), 'mcp-method'),
  'modern without the name header': without(modern('tools/call', echo), 'mcp-name'),
  'modern without any': { headers: { accept: both }, body: modern('tools/call', echo).body },
  'modern, another version header': modern('tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }),
  'modern, another method header': modern('tools/list', {}, { 'mcp-method': 'tools/call' }),
  'modern, another name header': modern('tools/call', echo, { 'mcp-name': 'pop' }),
  'modern, an encoded name': modern('tools/call', echo, { 'mcp-name': '=?base64?ZWNobw==?=' }),
  'modern, a badly encoded name': modern('tools/call', echo, { 'mcp-name': '=?base64?ZWNobw?=' }),
  'modern, a name encoded as no text': modern('tools/call', echo, { 'mcp-name': '=?base64?//8=?=' }),
  'modern, a name in capitals': modern('tools/call', echo, { 'mcp-name': 'ECHO' }),
  'modern header without an envelope': { ...modern('tools/list'), body: rpc('tools/list') },
  'modern header with half an envelope': modern('tools/list', { _meta: { [`${key}clientCapabilities`]: {} } }),
  'modern without capabilities': modern('tools/list', { _meta: { [`${key}protocolVersion`]: '2026-07-28' } }),
  'modern without a client': modern('tools/list', {
    _meta: { [`${key}protocolVersion`]: '2026-07-28', [`${key}clientCapabilities`]: {} },
  }),
  'modern, a client without a version': modern('tools/list', {
    _meta: { ...meta, [`${key}clientInfo`]: { name: 'x' } },
  }),
  'modern, capabilities that are none': modern('tools/list', { _meta: { ...meta, [`${key}clientCapabilities`]: [] } }),
  'modern, a capability that is none': modern('tools/list', {
    _meta: { ...meta, [`${key}clientCapabilities`]: { elicitation: { form: 5 } } },
  }),
  'modern, a log level that is none': modern('tools/list', { _meta: { ...meta, [`${key}logLevel`]: 'loud' } }),
  'modern, a progress token that is none': modern('tools/list', { _meta: { ...meta, progressToken: 1.5 } }),
  'modern, a version that is a number': modern('tools/list', { _meta: { ...meta, [`${key}protocolVersion`]: 5 } }),
  'modern, a revision nobody serves': modern(
    'tools/list',
    { _meta: { ...meta, [`${key}protocolVersion`]: '2027-01-01' } },
    { 'mcp-protocol-version': '2027-01-01' },
  ),
  'modern, an old revision': modern(
    'tools/list',
    { _meta: { ...meta, [`${key}protocolVersion`]: '2025-11-25' } },
    { 'mcp-protocol-version': '2025-11-25' },
  ),
  'modern notification': {
    headers: { accept: both, 'mcp-protocol-version': '2026-07-28' },
    body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  },
  'modern accepting nothing': { ...without(modern('tools/list'), 'accept') },
  'modern accepting JSON only': modern('tools/list', {}, { accept: 'application/json' }),
}

/** The parts that are compared: the status, the code of an error, its id, and the members of a result. */
function gist({ status, json, text }: Answer) {
  if (Array.isArray(json)) return { status, batch: json.length }
  const answers = text.split('\n').filter((line) => line.startsWith('data: ')).length
  if (json?.error !== undefined) return { status, code: json.error.code, id: json.id }
  if (json?.result !== undefined)
    return { status, keys: Object.keys(json.result).sort(), id: json.id, ...(answers > 1 && { answers }) }
  return { status }
}

interface Difference {
  readonly why: string
  readonly ours: unknown
}

const answered = { status: 200, keys: [], id: 1 }
const refused = { status: 200, code: -32602, id: 1 }
const told = { status: 200, keys: ['content', 'isError', 'structuredContent'], id: 1 }

const params =
  'Bad parameters of a method are -32602; the low-level Server of the SDK lets them through as an internal error.'
const read = 'Bad arguments, of whatever shape, are a tool error that the model reads (all.arguments.tool-error).'
const accept = 'Plain clients send no Accept, or any: they get JSON (all.plain.json).'
const array = 'The answers of a batch are one JSON array; the SDK sends each as an event.'

/** Every place where the engine answers otherwise. A difference that is not here fails; so does one that has gone. */
const differences: Record<string, Difference> = {
  'initialize without a client': { why: params, ours: refused },
  'initialize without parameters': { why: params, ours: refused },
  'tools/list, a bad cursor': { why: params, ours: refused },
  'resources/read without a uri': { why: params, ours: refused },
  'resources/subscribe without a uri': { why: params, ours: refused },
  'logging/setLevel, no level': { why: params, ours: refused },
  'modern tools/list, a bad cursor': { why: params, ours: refused },
  'modern resources/read without a uri': { why: params, ours: refused },
  'accepting JSON only': { why: accept, ours: answered },
  'accepting events only': { why: accept, ours: answered },
  'accepting anything': { why: accept, ours: answered },
  'accepting nothing': { why: accept, ours: answered },
  'accepting HTML': { why: accept, ours: answered },
  'a batch': { why: array, ours: { status: 200, batch: 2 } },
  'a batch of one': { why: array, ours: { status: 200, batch: 1 } },
  'a batch of one that initialises': {
    why: 'initialize must not be part of a batch (protocol 2025-03-26, "Lifecycle"), not even of one.',
    ours: { status: 400, code: -32600, id: null },
  },
  'tools/call, arguments a list': { why: read, ours: told },
  'tools/call, arguments null': { why: read, ours: told },
  'modern tools/call, arguments a list': {
    why: read,
    ours: { ...told, keys: ['_meta', 'content', 'isError', 'resultType', 'structuredContent'] },
  },
  'an unknown version header': {
    why: 'The id is echoed wherever it could be read, so that a client can tell which request was refused.',
    ours: { status: 400, code: -32000, id: 1 },
  },
}

describe('the engine and the SDK answer alike', () => {
  let ours: Fixture
  let theirs: Awaited<ReturnType<typeof startReference>>
  beforeAll(async () => {
    ours = await startFixture()
    theirs = await startReference()
  })
  afterAll(async () => {
    await ours.close()
    await theirs.close()
  })

  test.each(Object.entries(cases))('%s', async (name, sent) => {
    const [mine, reference] = await Promise.all([http(ours.url, sent), http(theirs.url, sent)])
    const difference = differences[name]
    if (difference === undefined) expect(gist(mine)).toEqual(gist(reference))
    else {
      expect(gist(mine), difference.why).toEqual(difference.ours)
      expect(gist(reference), 'this difference is gone; take it off the list').not.toEqual(difference.ours)
    }
  })

  test('every named difference is a case', () => {
    expect(Object.keys(differences).filter((name) => !(name in cases))).toEqual([])
  })
})
