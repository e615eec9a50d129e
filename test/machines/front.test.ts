/** The front of a door before servers that lie, break off and report progress. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { Front } from '../../src/doors/connect/stdio-proxy.ts'
import { createWire } from '../../src/doors/connect/wire.ts'
import { verifies } from '../support/verifies.ts'

type Rpc = Record<string, unknown> & { params: Record<string, unknown> }
type Serve = (message: Rpc, response: ServerResponse, request: IncomingMessage) => void

const modern = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

/** Of the stream that a client asks for by GET; without one there is none. */
type Listen = (response: ServerResponse, request: IncomingMessage) => void

/** Pauses are short. */
const hasty: Clock = { ...systemClock, after: (ms, run) => systemClock.after(Math.min(ms, 5), run) }

async function frontOf(serve: Serve, listen: Listen = (response) => response.writeHead(405).end()) {
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
    })
    request.on('end', () =>
      text === '' ? listen(response, request) : serve(JSON.parse(text) as Rpc, response, request),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  const lines: Rpc[] = []
  const wire = createWire(url, { authorization: 'Bearer k' })
  const write = (text: string) => void lines.push(JSON.parse(text) as Rpc)
  const front = new Front({
    wire,
    server: url.origin,
    clock: hasty,
    ids: createIds(systemClock),
    write,
    patienceMs: 2000,
  })
  const send = (message: object) => front.receive(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
  return { lines, send, front }
}

const events = (response: ServerResponse, ...messages: object[]) => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const message of messages) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
}

const toolCall = (id: number, name: string, more: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { ...modern, progressToken: `p${id}` }, ...more },
})

verifies(
  ['connect.server.strangers', 'connect.door.notices'],
  'Progress of the own call passes, that of others and foreign answers do not',
  async () => {
    const { lines, send } = await frontOf(({ id }, response) => {
      events(
        response,
        { method: 'notifications/progress', params: { progressToken: 'of-others', progress: 1 } },
        { method: 'notifications/progress', params: { progressToken: `p${id}`, progress: 1 } },
        { method: 'notifications/resources/updated', params: { uri: 'a:b' } },
        { id: 99, result: { content: [] } },
        { id, result: { content: [] } },
      )
      response.end()
    })
    send(toolCall(1, 'slow'))
    await expect.poll(() => lines.length).toBe(2)
    expect(lines.map(({ method, id, params }) => method ?? id ?? params)).toEqual(['notifications/progress', 1])
    expect(lines[0]?.params.progressToken).toBe('p1')
  },
)

const updated = (uri: string) => ({ method: 'notifications/resources/updated', params: { uri } })

verifies(
  ['connect.restart.updates', 'connect.server.strangers'],
  'The stream goes on from its last event, and a new session follows the same resources, but no others',
  async () => {
    let session = 0
    const subscribed: string[] = []
    const asked: unknown[] = []
    const { lines, send, front } = await frontOf(
      ({ id, method, params }, response, { headers }) => {
        if (id === undefined) return void response.writeHead(202).end()
        if (method === 'initialize') session++
        if (method === 'resources/subscribe') subscribed.push(`${headers['mcp-session-id']} ${params.uri}`)
        const result = method === 'initialize' ? { protocolVersion: '2025-11-25' } : {}
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${session}` })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      },
      (response, { headers, method }) => {
        if (method === 'DELETE') return void response.writeHead(200).end()
        asked.push([headers['mcp-session-id'], headers['last-event-id']])
        // The third time the server knows the session no more.
        if (asked.length === 3) return void response.writeHead(404).end()
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        if (asked.length > 4) return
        response.write(`id: e${asked.length}\n`)
        events(response, updated(asked.length === 4 ? 'a:late' : 'a:b'), updated('of:others'))
        response.end()
      },
    )
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
    await expect.poll(() => lines.length).toBe(1)
    for (const [n, uri] of ['a:b', 'a:late', 'a:gone'].entries())
      send({ id: 2 + n, method: 'resources/subscribe', params: { uri } })
    await expect.poll(() => lines.length).toBe(4)
    send({ id: 5, method: 'resources/unsubscribe', params: { uri: 'a:gone' } })
    await expect.poll(() => lines.length).toBe(5)
    send({ method: 'notifications/initialized' })
    await expect.poll(() => asked.length).toBe(5)
    expect(asked).toEqual([
      ['s1', undefined],
      ['s1', 'e1'],
      ['s1', 'e2'],
      ['s2', undefined],
      ['s2', 'e4'],
    ])
    expect(subscribed).toEqual(['s1 a:b', 's1 a:late', 's1 a:gone', 's2 a:b', 's2 a:late'])
    expect(lines.slice(5).map(({ params }) => params.uri)).toEqual(['a:b', 'a:b', 'a:late'])
    await front.close(0)
  },
)

verifies(
  ['connect.restart.updates', 'connect.server.strangers'],
  'What is listened to is asked for again when the server stops, and only that comes through',
  async () => {
    let asked = 0
    const { lines, send, front } = await frontOf(({ id }, response) => {
      asked++
      events(response, updated('a:b'), updated('of:others'))
      // A server that stops ends what is listened to with an answer.
      if (asked === 1) events(response, { id, result: {} })
      if (asked < 3) response.end()
    })
    const params = { notifications: { resourceSubscriptions: ['a:b'] }, _meta: modern }
    send({ id: 7, method: 'subscriptions/listen', params })
    await expect.poll(() => [asked, lines.length]).toEqual([3, 3])
    expect(lines.map((line) => line.params.uri)).toEqual(['a:b', 'a:b', 'a:b'])
    await front.close(0)
  },
)

verifies('connect.door.notices', 'A question of the server is answered by the client', async () => {
  let answer: ((roots: unknown) => void) | undefined
  const { lines, send } = await frontOf(({ id, result }, response) => {
    if (result !== undefined) {
      answer?.(result)
      return void response.writeHead(202).end()
    }
    answer = (roots) => {
      events(response, { id, result: { roots } })
      response.end()
    }
    events(response, { id: 'r1', method: 'roots/list' })
  })
  send({ id: 1, method: 'tools/call', params: { name: 'whois' } })
  await expect.poll(() => lines).toMatchObject([{ id: 'r1', method: 'roots/list' }])
  send({ id: 'r1', result: { roots: [{ uri: 'file:///srv/web' }] } })
  await expect.poll(() => lines[1]).toMatchObject({ id: 1, result: { roots: { roots: [{ uri: 'file:///srv/web' }] } } })
})

verifies('connect.door.notices', 'A cancelled call is hung up on, and has no answer', async () => {
  let closed = false
  let arrived = false
  const { lines, send } = await frontOf((message, response) => {
    if (message.method !== 'tools/call') return void response.writeHead(202).end()
    arrived = true
    response.on('close', () => {
      closed = true
    })
  })
  send(toolCall(1, 'check_mail'))
  await expect.poll(() => arrived).toBe(true)
  send({ method: 'notifications/cancelled', params: { requestId: 1, _meta: modern } })
  await expect.poll(() => closed).toBe(true)
  expect(lines).toEqual([])
})

verifies(
  'connect.restart.send',
  'A send that broke off is repeated under one id; another write is not repeated',
  async () => {
    const seen: unknown[] = []
    const { lines, send } = await frontOf(({ id, params }, response) => {
      seen.push((params.arguments as { msg_id?: string }).msg_id ?? params.name)
      if (params.name === 'release' || seen.length === 1) return void response.destroy()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }))
    })
    send(toolCall(1, 'send_to_agent', { arguments: { name: 'bob', msg: 'hello' } }))
    await expect.poll(() => lines.length).toBe(1)
    expect(seen).toHaveLength(2)
    expect(seen[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(seen[1]).toBe(seen[0])
    send(toolCall(2, 'release'))
    await expect.poll(() => lines.length).toBe(2)
    expect(seen).toHaveLength(3)
    expect(lines[1]).toMatchObject({ id: 2, error: { message: expect.stringContaining('not known') } })
  },
)

verifies(
  'connect.restart.send',
  'So are messages of a sync, questions and broadcasts, each under an id of its own',
  async () => {
    const seen: Rpc[] = []
    const { lines, send } = await frontOf(({ id, params }, response) => {
      seen.push(params.arguments as Rpc)
      if (seen.length % 2 === 1) return void response.destroy()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }))
    })
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/)
    const calls = [
      [
        'sync',
        {
          outbox: [
            { content_markdown: 'a', client_message_id: 'mine' },
            { content_markdown: 'b', client_message_id: null },
          ],
        },
      ],
      ['sync', {}],
      ['apm2.message.ask', { to: 'bob', text: 'well?' }],
      ['apm2.message.broadcast', { to: ['bob'], text: 'well?', client_message_id: null }],
    ] as const
    for (const [n, [name, args]] of calls.entries()) {
      send(toolCall(n, name, { arguments: args }))
      await expect.poll(() => lines.length).toBe(n + 1)
      expect(lines[n]).toMatchObject({ id: n, result: {} })
      expect(seen[2 * n + 1]).toEqual(seen[2 * n])
    }
    expect(seen[0]?.outbox).toMatchObject([{ client_message_id: 'mine' }, { client_message_id: uuid }])
    expect([seen[2], seen[4], seen[6]]).toMatchObject([{}, { client_message_id: uuid }, { client_message_id: uuid }])
    // In another form than a list its messages have no id.
    send(toolCall(8, 'sync', { arguments: { outbox: 'a text' } }))
    await expect.poll(() => lines.length).toBe(5)
    expect(lines[4]).toMatchObject({ error: { message: expect.stringContaining('not known') } })
  },
)

verifies(
  'connect.restart.waits',
  'A session that the server has forgotten is begun anew, unseen by the client',
  async () => {
    let sessions = 0
    const { lines, send } = await frontOf(({ id, method }, response, { headers }) => {
      if (id === undefined) return void response.writeHead(202).end()
      const good = headers['mcp-session-id'] === `s${sessions}`
      if (method === 'initialize') sessions++
      else if (!good) return void response.writeHead(404).end()
      else if (sessions === 1 && method === 'ping') {
        sessions = 7
        return void response.writeHead(404).end()
      }
      const result = method === 'initialize' ? { protocolVersion: '2025-11-25' } : {}
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${sessions}` })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
    await expect.poll(() => lines.length).toBe(1)
    send({ method: 'notifications/initialized' })
    send({ id: 2, method: 'ping' })
    await expect.poll(() => lines.length).toBe(2)
    expect([sessions, lines.map(({ id }) => id)]).toEqual([8, [1, 2]])
  },
)

verifies(
  'connect.restart.waits',
  'After its patience a call is answered with an error; a refusal comes at once',
  async () => {
    const wire = createWire(new URL('http://127.0.0.1:9/mcp'), {})
    const lines: Rpc[] = []
    const write = (text: string) => void lines.push(JSON.parse(text) as Rpc)
    const parts = {
      server: 'http://a.example',
      clock: systemClock,
      ids: createIds(systemClock),
      write,
      patienceMs: 300,
    }
    new Front({ ...parts, wire }).receive(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...toolCall(1, 'whois') })))
    await expect.poll(() => lines.length).toBe(1)
    expect(lines[0]).toMatchObject({ id: 1, error: { message: expect.stringContaining('cannot be reached') } })
    const refusing = await frontOf((_message, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ error: { code: 'UNAUTHENTICATED', message: 'The credentials are not valid here.' } }),
      )
    })
    refusing.send(toolCall(3, 'whois'))
    await expect.poll(() => refusing.lines.length).toBe(1)
    expect(refusing.lines[0]).toMatchObject({ id: 3, error: { message: expect.stringContaining('not valid here') } })
  },
)
