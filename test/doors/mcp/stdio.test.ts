/** A door on stdin and stdout, in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { clientSuite } from './suite.ts'
import { call, eras, newClient, rpc } from './use.ts'

const child = fileURLToPath(new URL('./stdio-child.ts', import.meta.url))
const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }

describe.each(eras)('over stdio, protocol %s', (era) => {
  const client = newClient(era)
  beforeAll(() =>
    client.connect(new StdioClientTransport({ command: process.execPath, args: [child], env, stderr: 'ignore' })),
  )
  afterAll(() => client.close())

  clientSuite(era, async () => {
    await client.callTool({ name: 'steer', arguments: { act: 'reset' } })
    return client
  })
})

/** The child by hand: lines in, lines out. */
function start() {
  const program = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void program.kill('SIGKILL'))
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]()
  let stderr = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return {
    send: (message: unknown) =>
      program.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    read: async () => JSON.parse((await lines.next()).value ?? 'null'),
    /** Closes stdin and waits for the end: the exit code, and what the world looked like. */
    async end() {
      program.stdin.end()
      const [code] = await once(program, 'close')
      return { code, world: JSON.parse(stderr) }
    },
  }
}

test('a client may probe with server/discover and then initialise all the same', async () => {
  const { send, read, end } = start()
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  send(rpc('server/discover', { _meta: meta }, 'probe'))
  expect(await read()).toMatchObject({ id: 'probe', result: { supportedVersions: ['2026-07-28'] } })
  send(rpc('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }))
  expect(await read()).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } })
  send(call('echo', { text: 'hi' }))
  expect(await read()).toMatchObject({ result: { structuredContent: { client: 'x 1' } } })
  expect(await end()).toMatchObject({ code: 0 })
})

test('a revision that is not served is refused with what is', async () => {
  const { send, read, end } = start()
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2030-01-01',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  send(rpc('tools/list', { _meta: meta }))
  expect(await read()).toMatchObject({
    id: 1,
    error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2030-01-01' } },
  })
  await end()
})

test('a line that is no message is refused as over HTTP, with the id it has', async () => {
  const { send, read, end } = start()
  send('this is not JSON')
  expect(await read()).toMatchObject({ id: null, error: { code: -32700 } })
  send({ jsonrpc: '2.0' })
  expect(await read()).toMatchObject({ id: null, error: { code: -32600 } })
  send({ jsonrpc: '2.0', id: 7, method: 'ping', params: [] })
  expect(await read()).toMatchObject({ id: 7, error: { code: -32600 } })
  send(rpc('ping'))
  expect(await read()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  await end()
})

test('when stdin ends, waiting calls end with their answers, and the process goes', async () => {
  const { send, read, end } = start()
  send(rpc('resources/subscribe', { uri: 'test://watched' }, 1))
  await read()
  send(rpc('tools/call', { name: 'pop', arguments: { wait: true } }, 2))
  send(rpc('tools/call', { name: 'steer', arguments: { act: 'waiting' } }, 3))
  expect(await read()).toMatchObject({ id: 3 })
  expect(await end()).toEqual({ code: 0, world: { mail: [], ends: ['stopping'], watched: [] } })
})
