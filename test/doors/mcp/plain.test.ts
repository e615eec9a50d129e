/** Clients that know nothing of MCP but its JSON: curl lines, scripts, batches, the short form. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { verifies } from '../../support/verifies.ts'
import { both, call, http, rpc, useFixture } from './use.ts'

verifies('all.plain.fields', 'a request with a content type and nothing else is answered with plain JSON', async () => {
  const { url } = await useFixture()
  const answer = await http(url, { body: call('echo', { text: 'hi' }) })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
  expect(answer.json).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      content: [{ type: 'text', text: '{"text":"hi","agent":"alice","client":"unknown"}' }],
      structuredContent: { text: 'hi', agent: 'alice', client: 'unknown' },
      text: 'hi',
      agent: 'alice',
      client: 'unknown',
    },
  })
})

verifies('all.plain.fields', 'clients of the protocol get the fields of a result once', async () => {
  const { url } = await useFixture()
  const answer = await http(url, { headers: { accept: both }, body: call('echo', { text: 'hi' }) })
  expect(Object.keys(answer.json.result)).toEqual(['content', 'structuredContent'])
  const failed = await http(url, { body: call('fail') })
  expect(failed.json.result).toMatchObject({ isError: true, error: { code: 'MAILBOX_FULL' } })
})

test.each(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', 'ping'])(
  '%s needs no session',
  async (method) => {
    const { url } = await useFixture()
    expect((await http(url, { body: rpc(method) })).json).toHaveProperty('result')
  },
)

test('a resource is read without a session', async () => {
  const { url } = await useFixture()
  const { json } = await http(url, { body: rpc('resources/read', { uri: 'test://inbox/bob?limit=2' }) })
  expect(json.result.contents).toEqual([
    {
      uri: 'test://inbox/bob?limit=2',
      mimeType: 'application/json',
      text: '{"agent":"bob","limit":"2","reader":"alice"}',
    },
  ])
})

test('an id comes back as it was, whatever its type', async () => {
  const { url } = await useFixture()
  for (const id of [0, -5, 'text', '"quoted\\"', 2 ** 53 - 1])
    expect((await http(url, { body: rpc('ping', undefined, id) })).json).toEqual({ jsonrpc: '2.0', id, result: {} })
})

test('a slash at the end of the path changes nothing', async () => {
  const { url } = await useFixture()
  expect((await http(`${url}/`, { body: rpc('ping') })).status).toBe(200)
})

test('text and structure are the same to the last character', async () => {
  const { url } = await useFixture()
  const text = 'a"b\\c\u2028\u0007\ud83d\ude00 </script> ­\n\t'
  const { result } = (await http(url, { body: call('echo', { text }) })).json
  expect(result.structuredContent.text).toBe(text)
  expect(result.content[0].text).toBe(JSON.stringify(result.structuredContent))
})

test('null stands for an argument that is not there', async () => {
  const { url } = await useFixture()
  const { json } = await http(url, { body: call('echo', { text: 'x', times: null, tone: null }) })
  expect(json.result.structuredContent.text).toBe('x')
  const missing = await http(url, { body: call('echo', { text: null }) })
  expect(missing.json.result.structuredContent.error.message).toBe('Argument "text" is missing; it must be a string.')
})

test.each([
  ['a list', [], 'a list'],
  ['a string', 'x', '"x"'],
  ['a number', 5, '5'],
])('arguments that are %s are an error the model reads', async (_, args, shown) => {
  const { url } = await useFixture()
  const { status, json } = await http(url, { body: rpc('tools/call', { name: 'echo', arguments: args }) })
  expect(status).toBe(200)
  expect(json.result).toMatchObject({
    isError: true,
    structuredContent: {
      error: { code: 'INVALID_ARGUMENT', message: `The arguments must be an object; got ${shown}.` },
    },
  })
})

test('an argument called __proto__ is one that the tool does not have', async () => {
  const { url } = await useFixture()
  const args = '{"text":"x","__proto__":{"text":"inherited"}}'
  const { json } = await http(url, {
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`,
  })
  expect(json.result.structuredContent.error.message).toBe('There is no argument "__proto__".')
})

test('null for all arguments is none', async () => {
  const { url } = await useFixture()
  const { json } = await http(url, { body: rpc('tools/call', { name: 'maybe', arguments: null }) })
  expect(json.result.structuredContent).toEqual({ result: null })
})

test('a notification is accepted and not answered', async () => {
  const { url } = await useFixture()
  const body = { jsonrpc: '2.0', method: 'notifications/initialized' }
  expect(await http(url, { body, headers: { accept: both } })).toMatchObject({ status: 202, text: '' })
})

test('names of object properties are not methods', async () => {
  const { url } = await useFixture()
  for (const method of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect((await http(url, { body: rpc(method) })).json.error).toEqual({ code: -32601, message: 'Method not found' })
})

verifies(
  'all.errors.internal',
  'an unexpected failure is logged once, whole, and with the tool that failed',
  async () => {
    const lines: string[] = []
    const { url } = await useFixture({ log: pino({ level: 'info' }, { write: (line: string) => lines.push(line) }) })
    await http(url, { body: call('crash') })
    await http(url, { body: call('fail') })
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      door: 'fixture',
      tool: 'crash',
      err: { message: 'secret detail' },
    })
  },
)

test('a request has its line in the log when that is wanted, without query or body', async () => {
  const lines: string[] = []
  const { url } = await useFixture({ log: pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }) })
  await http(`${url}?project=hidden`, { body: call('echo', { text: 'private' }) })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ method: 'POST', path: '/agents/alice/mcp', status: 200 })
  expect(lines.join('')).not.toMatch(/hidden|private/)
})

test('a batch is answered with one list', async () => {
  const { url } = await useFixture()
  const body = [
    rpc('ping', undefined, 'a'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    call('echo', { text: 'b' }),
  ]
  const { status, json } = await http(url, { body })
  expect(status).toBe(200)
  expect(json).toHaveLength(2)
  expect(json).toContainEqual({ jsonrpc: '2.0', id: 'a', result: {} })
})

test('a batch of notifications is accepted and not answered', async () => {
  const { url } = await useFixture()
  const body = [{ jsonrpc: '2.0', method: 'notifications/initialized' }]
  expect(await http(url, { body })).toMatchObject({ status: 202, text: '' })
})

test.each([
  ['empty', [], 'empty'],
  ['longer than a hundred', Array.from({ length: 101 }, (_, id) => rpc('ping', undefined, id)), 'exceed'],
  ['with what is no message', [{ hello: 1 }], 'invalid'],
  ['that initialises', [rpc('initialize', {})], 'initialize'],
])('a batch %s is refused', async (_, body, word) => {
  const { url } = await useFixture()
  const { status, json } = await http(url, { body })
  expect({ status, code: json.error.code }).toEqual({ status: 400, code: -32600 })
  expect(json.error.message).toContain(word)
})

test('the short form answers the bare value', async () => {
  const { url, world } = await useFixture()
  world.mail.push('one')
  const short = async (tool: unknown, args?: unknown) => (await http(url, { body: { tool, args } })).text
  expect(await short('pop')).toBe('"one"')
  expect(await short('pop', {})).toBe('null')
  expect(await short('maybe', { count: 2 })).toBe('[0,1]')
  expect(await short('text', null)).toBe('"one\\ntwo"')
})

test.each([
  [{ tool: 'fail' }, 429, 'MAILBOX_FULL'],
  [{ tool: 'crash' }, 500, 'INTERNAL'],
  [{ tool: 'echo', args: {} }, 400, 'INVALID_ARGUMENT'],
  [{ tool: 'echo', args: [] }, 400, 'INVALID_ARGUMENT'],
  [{ tool: 'nope' }, 400, 'INVALID_ARGUMENT'],
  [{ tool: 5 }, 400, 'INVALID_ARGUMENT'],
])('the short form %j fails with the status of its kind', async (body, status, code) => {
  const { url } = await useFixture()
  const answer = await http(url, { body })
  expect(answer).toMatchObject({
    status,
    json: { error: { code, message: expect.any(String), hint: expect.any(String) } },
  })
})

test('an unknown tool in the short form is answered with the tools there are', async () => {
  const { url } = await useFixture()
  expect((await http(url, { body: { tool: 'nope' } })).json.error.hint).toContain('echo, maybe')
})

test('a door without the short form takes it for what it is: no message', async () => {
  const { fixtureDoor } = await import('./door.ts')
  const { url } = await useFixture({ door: (world) => ({ ...fixtureDoor(world), shortForm: false }) })
  expect(await http(url, { body: { tool: 'echo' } })).toMatchObject({ status: 400, json: { error: { code: -32600 } } })
})
