/** Requests that are made to stall, fool or fill a server: each is refused in little time, and the next one is served. */
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { describe, expect } from 'vitest'
import { startServer } from '../../src/app/serve.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { httpPeer } from '../support/bus.ts'
import { readableLog } from '../support/logged.ts'
import { bareEnv, type Later, mailbox, share, shareServer, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { type Answer, ask, checkMail, openSession, openSocket, sendHalf } from '../support/wire.ts'

const parley = shareServer()
const paths = ['/agents/alice/mcp', '/mcp', '/bus/mcp?agent=alice']

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(parley(), { method: 'POST', path, body, headers: { 'Content-Type': 'application/json', ...headers } })

const rpc = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('A request that is made to stall the server', () => {
  const object = (keys: number) => `{${Array.from({ length: keys }, (_, key) => `"k${key}":0`).join(',')}}`
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const attacks: [what: string, promise: Parameters<typeof verifies>[0], body: string][] = [
    ['4 MB of brackets', 'all.size.nesting', '['.repeat(4_000_000)],
    ['4 MB of brackets that close', 'all.size.nesting', nested(2_000_000)],
    ['a _meta of 101 levels', 'all.size.nesting', rpc('ping', `{"_meta":{"x":${nested(98)}}}`)],
    ['a _meta of 100,000 levels', 'all.size.nesting', rpc('ping', `{"_meta":{"x":${nested(100_000)}}}`)],
    [
      'arguments of 100,000 levels',
      'all.size.nesting',
      rpc('tools/call', `{"name":"check_mail","arguments":{"after":${nested(100_000)}}}`),
    ],
    ['a short form of 10,000 levels', 'all.size.nesting', `{"tool":"check_mail","args":{"x":${nested(10_000)}}}`],
    [
      'an object of 1,001 keys',
      'all.size.keys',
      rpc('tools/call', `{"name":"check_mail","arguments":${object(1001)}}`),
    ],
    ['an object of 300,000 keys', 'all.size.keys', rpc('ping', `{"_meta":${object(300_000)}}`)],
    ['a batch of 101', 'all.size.batch', `[${Array(101).fill(ping).join(',')}]`],
    ['a batch of 90,000', 'all.size.batch', `[${Array(90_000).fill(ping).join(',')}]`],
    ['a batch of a million numbers', 'all.size.batch', `[${Array(1_000_000).fill('1').join(',')}]`],
  ]
  for (const [what, promise, body] of attacks)
    verifies(promise, `${what} is 400 at every door, and the next one is served`, async () => {
      for (const path of paths) {
        const answer = await post(path, body)
        expect(answer.status).toBe(400)
        expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } })
        expect((await post(path, ping)).status).toBe(200)
      }
    })

  verifies('all.size.nesting', 'JSON that an argument holds as a text is refused alike', async () => {
    const deep = JSON.stringify('['.repeat(1_900_000))
    const calls: [path: string, tool: string, args: string][] = [
      ['/mcp', 'send_message', `{"project_key":"commons","sender_name":"A","to":${deep},"body_md":"x","subject":"x"}`],
      ['/bus/mcp?agent=alice', 'sync', `{"topic_id":"x","outbox":${deep}}`],
    ]
    for (const [path, name, args] of calls) {
      const answer = JSON.parse((await post(path, rpc('tools/call', `{"name":"${name}","arguments":${args}}`))).text)
      expect(answer.result).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'INVALID_ARGUMENT', message: expect.stringContaining('100 levels') } },
      })
    }
  })

  verifies(['all.size.nesting', 'all.size.keys'], 'what keeps the limits is served', async () => {
    expect((await post('/mcp', rpc('ping', `{"_meta":{"x":${nested(97)}}}`))).status).toBe(200)
    expect((await post('/mcp', rpc('ping', `{"_meta":${object(1000)}}`))).status).toBe(200)
  })

  verifies('all.size.uri', 'a long URI is 414, and one of a resource is an error, however it is named', async () => {
    const long = 'x'.repeat(9000)
    for (const path of paths)
      expect((await post(`${path}${path.includes('?') ? '&' : '?'}project=${long}`, ping)).status).toBe(414)
    expect((await ask(parley(), { path: `/${long}` })).status).toBe(414)
    const huge = JSON.stringify({ uri: `resource://inbox/${'%41'.repeat(700_000)}?${'a=1&'.repeat(100_000)}` })
    for (const method of ['resources/read', 'resources/subscribe', 'resources/unsubscribe']) {
      const answer = await post('/mcp', rpc(method, huge))
      expect(JSON.parse(answer.text)).toMatchObject({
        error: { code: -32602, message: expect.stringContaining('8192 characters') },
      })
    }
    expect((await post('/mcp', rpc('resources/read', '{"uri":"resource://projects"}'))).text).toContain('"result"')
  })

  verifies('all.size.nesting', 'the others wait for no such request', async () => {
    const hostile = rpc('ping', `{"_meta":{"x":${nested(2_000_000)}}}`)
    let longest = 0
    const flood = Promise.all(Array.from({ length: 10 }, () => post('/mcp', hostile)))
    let over = false
    void flood.then(() => {
      over = true
    })
    while (!over) {
      const asked = performance.now()
      expect((await post('/agents/alice/mcp', ping)).status).toBe(200)
      longest = Math.max(longest, performance.now() - asked)
    }
    for (const { status } of await flood) expect(status).toBe(400)
    // Ten of them held the loop for more than ten seconds.
    expect(longest).toBeLessThan(3000)
  })
})

describe('A request that is made to fool the server', () => {
  verifies('all.http.utf-eight', 'is malformed where its bytes are no UTF-8, and stores nothing', async () => {
    const [before, after] = rpc('tools/call', '{"name":"send_to_agent","arguments":{"name":"utf","msg":"§"}}').split(
      '§',
    )
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80]]) {
      const answer = await post(
        '/agents/alice/mcp',
        Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')]),
      )
      expect(answer.status).toBe(400)
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32700 } })
    }
    expect(await mailbox(parley(), 'utf').check()).toBeNull()
    await mailbox(parley(), 'alice').send('utf', 'a real \ufffd')
    expect(await mailbox(parley(), 'utf').check()).toMatchObject({ content: 'a real \ufffd' })
  })

  for (const encoding of ['gzip', 'br', 'deflate', 'x-gzip', 'zstd', 'gzip, identity', 'nonsense', ''])
    verifies('all.http.encoding', `is 415 with the content encoding ${JSON.stringify(encoding)}`, async () => {
      for (const path of paths) {
        const answer = await post(path, rpc('ping', '{}'), { 'Content-Encoding': encoding })
        expect(answer.status).toBe(415)
        expect(answer.text).toContain('content encoding')
      }
    })

  verifies('all.http.encoding', 'is served with the encoding that is none', async () => {
    expect((await post('/mcp', rpc('ping', '{}'), { 'Content-Encoding': 'Identity' })).status).toBe(200)
  })
})

describe('The end of a session', () => {
  verifies('all.sessions.delete', 'comes with DELETE as the Python SDK sends it, and frees its names', async () => {
    const sent: Record<string, string>[] = [{ 'Content-Type': 'application/json' }, { 'Content-Length': '0' }, {}]
    for (const [n, headers] of sent.entries()) {
      const first = await openSession(`${parley().url}/bus/mcp`)
      await httpPeer(parley(), '', { 'Mcp-Session-Id': first }).join(`python${n}`, 'deletes')
      const other = httpPeer(parley(), '', { 'Mcp-Session-Id': await openSession(`${parley().url}/bus/mcp`) })
      await expect(other.join(`python${n}`, 'deletes')).rejects.toMatchObject({ code: 'AGENT_NAME_IN_USE' })
      const ended = await ask(parley(), {
        method: 'DELETE',
        path: '/bus/mcp',
        headers: { ...headers, Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': first },
      })
      expect(ended.status).toBe(200)
      await other.join(`python${n}`, 'deletes')
    }
  })

  verifies('all.sessions.delete', 'is not kept off by a body', async () => {
    const id = await openSession(`${parley().url}/mcp`)
    const headers = { 'Content-Type': 'application/json', 'Mcp-Session-Id': id }
    const whole = { ...headers, 'Content-Length': '2' }
    expect((await ask(parley(), { method: 'DELETE', path: '/mcp', headers: whole, body: '{}' })).status).toBe(200)
    expect((await post('/mcp', rpc('ping', '{}'), headers)).status).toBe(404)
  })
})

describe('An upload that is cut off', () => {
  const logged = share(async (later: Later) => {
    const { log, lines } = readableLog()
    const server = await startServer(loadConfig(bareEnv(await temporaryFolder(later), { HTTP_PORT: '0' })), log)
    later(server.stop)
    return { port: Number(new URL(server.url).port), url: server.url, lines }
  })

  verifies('all.http.cut-off', 'is no error in the log, at any door', async () => {
    const { lines } = logged()
    for (const path of [...paths, '/nothing', '/metrics']) {
      const { socket } = await sendHalf(logged(), path, { jsonrpc: '2.0', id: 1, method: 'ping', params: {} })
      socket.resetAndDestroy()
      await once(socket, 'close')
    }
    for (let n = 0; n < 5; n++) await ask(logged(), checkMail('alice'))
    expect((await ask(logged(), checkMail('alice'))).status).toBe(200)
    expect(lines.filter(({ level }) => level >= 40)).toEqual([])
  })

  verifies('all.http.cut-off', 'is none either when less comes than was said', async () => {
    const socket = await openSocket(logged())
    socket.end('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{')
    await once(socket, 'close')
    expect(logged().lines.filter(({ level }) => level >= 40)).toEqual([])
  })
})
