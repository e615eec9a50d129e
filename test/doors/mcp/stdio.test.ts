/** A door on stdin and stdout, in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { RequirementId } from '../../requirements.ts'
import { verifies } from '../../support/verifies.ts'
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

/** The child by hand, for one test. */
function start() {
  const started = spawned()
  onTestFinished(() => started.kill())
  return started
}

/** Lines in, lines out. */
function spawned() {
  const program = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'pipe'] })
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]()
  let stderr = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return {
    kill: () => void program.kill('SIGKILL'),
    send: (message: unknown) =>
      program.stdin.write(
        Buffer.isBuffer(message)
          ? Buffer.concat([message, Buffer.from('\n')])
          : `${typeof message === 'string' ? message : JSON.stringify(message)}\n`,
      ),
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

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const withMeta = (meta: string) => `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":${meta}}}`
const wide = `{${Array.from({ length: 1001 }, (_, key) => `"k${key}":0`).join(',')}}`

const hostile: [what: string, line: string | Buffer, promise: RequirementId, code: number][] = [
  ['a _meta of 5,000 levels', withMeta(`{"x":${nested(5000)}}`), 'all.size.nesting', -32600],
  ['a _meta of 500,000 levels', withMeta(`{"x":${nested(500_000)}}`), 'all.size.nesting', -32600],
  ['a _meta of 101 levels', withMeta(`{"x":${nested(98)}}`), 'all.size.nesting', -32600],
  ['4 MB of brackets', '['.repeat(4_000_000), 'all.size.nesting', -32600],
  ['an object of 1,001 keys', withMeta(wide), 'all.size.keys', -32600],
  ['a batch', JSON.stringify([rpc('ping'), rpc('ping', undefined, 2)]), 'all.stdio.batch', -32600],
  ['an empty batch', '[]', 'all.stdio.batch', -32600],
  ['a line of 5 MB', `"${'x'.repeat(5 << 20)}"`, 'all.stdio.survives', -32000],
  ['a bare value', '7', 'all.stdio.survives', -32600],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'all.http.utf-eight', -32700],
]
describe('One process, whatever the lines before', () => {
  let shared: ReturnType<typeof spawned>
  beforeAll(() => {
    shared = spawned()
  })
  afterAll(async () => expect(await shared.end()).toMatchObject({ code: 0 }))

  for (const [what, line, promise, code] of hostile)
    verifies(['all.stdio.survives', promise], `${what} is refused, and the next line is served`, async () => {
      const { send, read } = shared
      send(line)
      const { id, error } = await read()
      expect({ id, code: error.code }).toEqual({ id: null, code })
      if (what.endsWith('batch')) expect(error.message).toContain('batches are not taken on stdin')
      send(rpc('ping'))
      expect(await read()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    })
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
