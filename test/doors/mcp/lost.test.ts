/** Mail that a call took must not be lost with its answer. */
import { once } from 'node:events'
import { connect as open, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { EndedSessions } from '../../../src/doors/mcp/protocol/sessions.ts'
import { verifies } from '../../support/verifies.ts'
import type { Fixture } from './fixture.ts'
import { both, call, http, openSession, rpc, useFixture } from './use.ts'

/** A request on a socket of its own, which the test can break. */
async function send({ port }: Fixture, body: unknown, headers: Record<string, string> = {}): Promise<Socket> {
  const socket = open(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const text = JSON.stringify(body)
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  socket.write(
    `POST /agents/alice/mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
  )
  return socket
}

const pop = (wait = false, id = 1) => rpc('tools/call', { name: 'pop', arguments: { wait } }, id)

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const modern = {
  body: rpc('tools/call', { name: 'pop', arguments: { wait: true }, _meta: meta }),
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'pop', accept: both },
}

test.each([
  ['a plain call', pop(true), {}],
  ['a call of the newest era', modern.body, modern.headers],
  ['the short form', { tool: 'pop', args: { wait: true } }, {}],
  ['a batch', [pop(true, 1), rpc('ping', undefined, 2)], {}],
])('%s whose client hangs up while it waits takes nothing with it', async (_, body, headers) => {
  const fixture = await useFixture()
  const { world } = fixture
  const socket = await send(fixture, body, headers)
  await world.until(() => world.waiting.length === 1)
  socket.destroy()
  await world.until(() => world.ends.length === 1)
  world.mail.push('one')
  expect(world.ends).toEqual(['lost'])
  expect((await http(fixture.url, { body: pop() })).json.result.structuredContent).toEqual({ result: 'one' })
})

test.each([
  ['a plain call', pop()],
  ['the short form', { tool: 'pop' }],
  ['a batch', [pop(false, 1), pop(false, 2)]],
])('%s whose client hangs up right after it sent puts back what it took', async (_, body) => {
  const fixture = await useFixture()
  const { world } = fixture
  for (let round = 0; round < 50; round++) {
    world.mail = ['one', 'two', 'three']
    world.putBacks = []
    const socket = await send(fixture, body)
    socket.destroy()
    const taken = Array.isArray(body) ? 2 : 1
    await world.until(() => world.putBacks.length === taken)
    expect(world.mail.toSorted()).toEqual(['one', 'three', 'two'])
  }
})

test('mail that comes at the very moment its waiter goes is put back', async () => {
  const fixture = await useFixture()
  const { world } = fixture
  const socket = await send(fixture, pop(true))
  await world.until(() => world.waiting.length === 1)
  world.mail.push('one')
  // The call takes the mail in this turn; the hang-up is seen in the next.
  world.release()
  socket.destroy()
  await world.until(() => world.putBacks.length === 1)
  expect(world.mail).toEqual(['one'])
})

verifies('mailbox.pop.put-back', 'mail is put back though the database is away at first', async () => {
  const fixture = await useFixture()
  const { world } = fixture
  world.busy = 2
  const socket = await send(fixture, pop(true))
  await world.until(() => world.waiting.length === 1)
  world.mail.push('one')
  world.release()
  socket.destroy()
  await world.until(() => world.putBacks.length === 1)
  expect(world.mail).toEqual(['one'])
})

test('an answer that breaks off on its way puts back what it took', async () => {
  const fixture = await useFixture()
  const { world } = fixture
  // More than the kernel takes at once: the answer is being written while the client resets the connection.
  const large = 'x'.repeat(32 << 20)
  world.mail.push(large)
  const socket = await send(fixture, pop())
  await once(socket, 'readable')
  socket.resetAndDestroy()
  await world.until(() => world.putBacks.length === 1)
  expect(world.mail).toHaveLength(1)
})

test('an answer that was handed over takes nothing back', async () => {
  const fixture = await useFixture()
  const { world, url, engine } = fixture
  world.mail.push('one', 'two')
  expect((await http(url, { body: pop() })).json.result.structuredContent).toEqual({ result: 'one' })
  const socket = await send(fixture, pop())
  await once(socket, 'data')
  socket.destroy()
  await once(socket, 'close')
  await engine.close()
  expect(world).toMatchObject({ mail: [], putBacks: [] })
})

test('a cancelled call puts back what it took, and its response ends', async () => {
  const fixture = await useFixture()
  const { world, url } = fixture
  const headers = { 'mcp-session-id': await openSession(url), accept: both }
  const waiting = http(url, { headers, body: pop(true, 7) })
  await world.until(() => world.waiting.length === 1)
  world.mail.push('one')
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
  expect(await http(url, { headers, body: cancel })).toMatchObject({ status: 202 })
  expect(await waiting).toMatchObject({ status: 202, text: '' })
  await world.until(() => world.putBacks.length === 1)
  expect(world.mail).toEqual(['one'])
})

test('one session cannot cancel a call of another', async () => {
  const fixture = await useFixture()
  const { world, url } = fixture
  const mine = { 'mcp-session-id': await openSession(url) }
  const other = { 'mcp-session-id': await openSession(url) }
  const waiting = http(url, { headers: mine, body: pop(true, 7) })
  await world.until(() => world.waiting.length === 1)
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
  await http(url, { headers: other, body: cancel })
  world.release()
  expect((await waiting).json).toMatchObject({ id: 7, result: { structuredContent: { result: null } } })
})

test('a cancelled part of a batch is left out of the answer, the others are in it', async () => {
  const fixture = await useFixture()
  const { world, url } = fixture
  const headers = { 'mcp-session-id': await openSession(url) }
  world.mail.push('one')
  const waiting = http(url, { headers, body: [rpc('tools/call', { name: 'wait' }, 1), pop(false, 2)] })
  await world.until(() => world.waiting.length === 1)
  await http(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } } })
  expect((await waiting).json).toMatchObject([{ id: 2, result: { structuredContent: { result: 'one' } } }])
  expect(world).toMatchObject({ ends: ['lost'], putBacks: [] })
})

test('a call that fails after it took something gives it back before it says so', async () => {
  const { world, url } = await useFixture()
  world.mail.push('one')
  const { json } = await http(url, { body: call('fail', { late: true }) })
  expect(json.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'MAILBOX_FULL' } } })
  expect(world.mail).toEqual(['one'])
})

test.each([
  ['a plain call', call('knot'), { status: 200, json: { error: { code: -32603 } } }],
  ['the short form', { tool: 'knot' }, { status: 500, json: { error: { code: 'INTERNAL' } } }],
])('%s whose result cannot be written gives back what it took', async (_, body, answer) => {
  const { world, url } = await useFixture()
  world.mail.push('one')
  expect(await http(url, { body })).toMatchObject(answer)
  expect(world.mail).toEqual(['one'])
})

test('an undo that fails is logged and stops nothing', async () => {
  const fixture = await useFixture()
  const { world } = fixture
  world.mail.push('one')
  const socket = await send(fixture, pop(true))
  await world.until(() => world.waiting.length === 1)
  world.waiting[0]?.ifLost(async () => {
    throw new Error('the store is gone')
  })
  world.release()
  socket.destroy()
  await world.until(() => world.putBacks.length === 1)
  expect(world.mail).toEqual(['one'])
})

test('the call counts as cancelled when its client is gone', async () => {
  const fixture = await useFixture()
  const { world, metrics, engine } = fixture
  const socket = await send(fixture, pop(true))
  await world.until(() => world.waiting.length === 1)
  socket.destroy()
  await world.until(() => world.ends.length === 1)
  await engine.close()
  const counted = (await metrics.meters.text()).split('\n').filter((line) => line.startsWith('parley_tool_calls_total'))
  expect(counted).toEqual(['parley_tool_calls_total{door="fixture",tool="pop",outcome="cancelled"} 1'])
})

test.each([
  ['a call', pop(true)],
  ['a batch', [pop(true)]],
])('%s whose client goes while its session is looked up does not wait for nobody', async (_, body) => {
  const looking = Promise.withResolvers<void>()
  const found = Promise.withResolvers<boolean>()
  const ended: EndedSessions = {
    has() {
      looking.resolve()
      return found.promise
    },
    add: async () => {},
    watch: () => () => {},
  }
  const fixture = await useFixture({ ended })
  const { world, url, app } = fixture
  const token = await openSession(url)
  const gone = new Promise<void>((resolve) =>
    app.server.once('connection', (socket) => socket.once('close', () => resolve())),
  )
  const socket = await send(fixture, body, { 'mcp-session-id': token })
  await looking.promise
  socket.destroy()
  await gone
  found.resolve(false)
  await world.until(() => world.ends.length === 1)
  expect(world.ends).toEqual(['lost'])
})
