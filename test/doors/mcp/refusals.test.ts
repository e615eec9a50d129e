/** Faults of a request, told in JSON-RPC with the right status. */
import { expect, test } from 'vitest'
import { both, call, http, rpc, type Sent, useFixture } from './use.ts'

const ping = rpc('ping')

test.each<[string, Sent, number, number]>([
  ['JSON that is none', { body: '{"jsonrpc":' }, 400, -32700],
  ['an empty body', { body: '' }, 400, -32700],
  ['a member called __proto__', { body: '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}' }, 400, -32600],
  ['text', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415, -32000],
  ['a form', { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415, -32000],
  ['no body and no type', { body: undefined }, 415, -32000],
  ['more than 4 MiB', { body: JSON.stringify(call('echo', { text: 'x'.repeat(4 << 20) })) }, 413, -32000],
  ['a message that is none', { body: { hello: 'world' } }, 400, -32600],
  ['a bare value', { body: '5' }, 400, -32600],
  ['a member too many', { body: { ...ping, extra: 1 } }, 400, -32600],
  ['an id that is null', { body: { jsonrpc: '2.0', id: null, method: 'ping' } }, 400, -32600],
  ['an id that is half', { body: { jsonrpc: '2.0', id: 1.5, method: 'ping' } }, 400, -32600],
  ['parameters in a list', { body: { jsonrpc: '2.0', id: 1, method: 'ping', params: [] } }, 400, -32600],
  ['another JSON-RPC', { body: { jsonrpc: '1.0', id: 1, method: 'ping' } }, 400, -32600],
  ['a version nobody knows', { body: ping, headers: { 'mcp-protocol-version': '1999-01-01' } }, 400, -32000],
  ['a session nobody opened', { body: ping, headers: { 'mcp-session-id': 'made-up' } }, 404, -32001],
])('%s', async (_, sent, status, code) => {
  const { url } = await useFixture()
  const answer = await http(url, sent)
  expect({ status: answer.status, code: answer.json.error.code, version: answer.json.jsonrpc }).toEqual({
    status,
    code,
    version: '2.0',
  })
})

test.each(['GET', 'DELETE'])('%s needs a session', async (method) => {
  const { url } = await useFixture()
  const answer = await http(url, { method, headers: { accept: both } })
  expect(answer).toMatchObject({
    status: 405,
    headers: { allow: 'POST' },
    json: { error: { code: -32000 } },
  })
  expect(await http(url, { method, headers: { accept: both, 'mcp-session-id': 'made-up' } })).toMatchObject({
    status: 404,
  })
})

test.each(['PUT', 'PATCH', 'OPTIONS', 'HEAD'])('%s is not allowed', async (method) => {
  const { url } = await useFixture()
  expect(await http(url, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } })
})

test('a path that names nothing is refused in the words of the door', async () => {
  const { url } = await useFixture()
  const answer = await http(url.replace('alice', 'no%20name'), { body: ping })
  expect(answer.status).toBe(400)
  expect(answer.json.error).toEqual({
    code: -32602,
    message: 'The path names no agent. Use letters.',
    data: { code: 'INVALID_ARGUMENT', hint: 'Use letters.' },
  })
})

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const headers = { accept: both, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
const modern = call('echo', { text: 'x' }, envelope)
const { 'mcp-name': _name, ...nameless } = headers
const { 'mcp-method': _method, ...methodless } = headers
const { 'mcp-protocol-version': _version, ...versionless } = headers
const encode = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

test.each<[string, Sent, number, number | undefined]>([
  ['all is well', { headers, body: modern }, 200, undefined],
  ['the name is encoded', { headers: { ...headers, 'mcp-name': encode('echo') }, body: modern }, 200, undefined],
  ['the version header is missing', { headers: versionless, body: modern }, 400, -32020],
  ['the method header is missing', { headers: methodless, body: modern }, 400, -32020],
  ['the name header is missing', { headers: nameless, body: modern }, 400, -32020],
  ['the method header says another', { headers: { ...headers, 'mcp-method': 'ping' }, body: modern }, 400, -32020],
  ['the name header says another', { headers: { ...headers, 'mcp-name': 'pop' }, body: modern }, 400, -32020],
  [
    'the name is badly encoded',
    { headers: { ...headers, 'mcp-name': '=?base64?ZWNobw?=' }, body: modern },
    400,
    -32020,
  ],
  ['the name is no text', { headers: { ...headers, 'mcp-name': '=?base64?//8=?=' }, body: modern }, 400, -32020],
  ['the header alone says so', { headers, body: call('echo', { text: 'x' }) }, 400, -32602],
  [
    'the capabilities are none',
    { headers, body: call('echo', {}, { ...envelope, 'io.modelcontextprotocol/clientCapabilities': 1 }) },
    400,
    -32602,
  ],
  [
    'the era has no such method',
    { headers: { ...headers, 'mcp-method': 'ping' }, body: rpc('ping', { _meta: envelope }) },
    404,
    -32601,
  ],
])('in the newest era, when %s', async (_, sent, status, code) => {
  const { url } = await useFixture()
  // Twice: the second time the envelope is known, and must be judged no milder for it.
  for (let time = 0; time < 2; time++) {
    const answer = await http(url, sent)
    expect({ status: answer.status, code: answer.json.error?.code }).toEqual({ status, code })
  }
})

test('an envelope that differs from a good one only by null is still judged', async () => {
  const { url } = await useFixture()
  const { 'io.modelcontextprotocol/clientInfo': _, ...anonymous } = envelope
  expect((await http(url, { headers, body: call('echo', { text: 'x' }, anonymous) })).status).toBe(200)
  const nulled = { ...anonymous, 'io.modelcontextprotocol/clientInfo': null }
  expect((await http(url, { headers, body: call('echo', { text: 'x' }, nulled) })).status).toBe(400)
})

test('a revision that is not served is refused with what is', async () => {
  const { url } = await useFixture()
  const meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' }
  const answer = await http(url, {
    headers: { ...headers, 'mcp-protocol-version': '2027-01-01' },
    body: call('echo', {}, meta),
  })
  expect(answer).toMatchObject({
    status: 400,
    json: { error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2027-01-01' } } },
  })
})
