/** Measures of the post door, beside its throughput: events, idle sockets, and an inbox of many sessions. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { startPostgres } from '../test/support/postgres.ts'
import { percentile } from './client.ts'
import { type Load, openDriver, readAnswers } from './drive.ts'
import type { Row } from './rows.ts'
import { makeDatabase } from './seed-postgres.ts'
import { cpu, memory, type Running, startParley } from './server.ts'
import { text } from './text.ts'

const connections = 64
/** One address registers them all. */
export const quiet = { HTTP_WRONG_KEYS_PER_MINUTE: '0' }

type Fields = Record<string, string>

/** One keep-alive connection of an agent, for latencies one by one. */
export async function openAgent(port: number, key = '') {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.setNoDelay(true).once('connect', resolve).once('error', reject))
  const waiting: ((body: string) => void)[] = []
  readAnswers(socket, (_head, body) => waiting.shift()?.(body))
  const ask = (method: string, path: string, body = ''): Promise<string> => {
    const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...(key === '' ? [] : [`X-API-Key: ${key}`])]
    if (body !== '') head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    return new Promise((resolve) => waiting.push(resolve))
  }
  return {
    get: (path: string) => ask('GET', path),
    post: async (path: string, body: object) => JSON.parse(await ask('POST', path, JSON.stringify(body))) as Fields,
    close: () => socket.destroy(),
  }
}

export async function register({ port }: Pick<Running, 'port'>, names: readonly string[]): Promise<string[]> {
  const agent = await openAgent(port)
  const keys = await Promise.all(names.map((name) => agent.post('/agents/register', { name })))
  agent.close()
  return keys.map(({ api_key }) => api_key ?? '')
}

export async function connectPair(
  { port }: Pick<Running, 'port'>,
  from: string,
  to: { key: string; name: string },
): Promise<void> {
  const [asking, asked] = [await openAgent(port, from), await openAgent(port, to.key)]
  const { verification_code } = await asking.post('/connections/request', { target_agent_name: to.name })
  await asked.post('/connections/approve', { verification_code })
  asking.close()
  asked.close()
}

export const named = (what: string, count: number) => Array.from({ length: count }, (_, n) => `${what}-${n}`)

export interface Posting {
  send(seconds: number): Promise<Load>
  close(): void
}

/** 64 pairs of connected agents, each with one session. */
export async function openPosting(parley: Running): Promise<Posting> {
  const readers = named('post-reader', connections)
  const [senders, readerKeys] = [
    await register(parley, named('post-sender', connections)),
    await register(parley, readers),
  ]
  for (const [n, key] of senders.entries())
    await connectPair(parley, key, { key: readerKeys[n] ?? '', name: readers[n] ?? '' })
  const driver = await openDriver(parley.port, connections)
  return {
    send: (seconds: number) =>
      driver.run({
        path: () => '/messages/send',
        headers: (connection) => ({ 'X-API-Key': senders[connection] ?? '' }),
        body: (connection) => JSON.stringify({ to: readers[connection], subject: 'The build', content: text }),
        seconds,
      }),
    close: () => driver.close(),
  }
}

export const openSocket = (port: number, key: string): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
      headers: { 'X-API-Key': key },
      perMessageDeflate: false,
    })
    socket.once('open', () => resolve(socket)).once('error', reject)
  })

/** Sends before events are measured, until the code is compiled: a server runs for days. */
const warming = 1000
const halfWarm = 400

/** From the start of a send to its event; the socket is at the same server, or at another on the same database. */
async function events(here: Running, there: Running, { warming, samples }: { warming: number; samples: number }) {
  const [alice = '', bob = ''] = await register(here, [`alice-${there.pid}`, `bob-${there.pid}`])
  const to = { key: bob, name: `bob-${there.pid}` }
  await connectPair(here, alice, to)
  const [sender, socket] = [await openAgent(here.port, alice), await openSocket(there.port, bob)]
  const times: number[] = []
  for (let n = -warming; n < samples; n++) {
    const event = new Promise((resolve) => socket.once('message', resolve))
    if (n >= 0) await sleep(4)
    const began = performance.now()
    const sent = sender.post('/messages/send', { to: to.name, subject: 'Event', content: `number ${n}` })
    if (!String(await event).includes(`number ${n}`)) throw new Error('another event came')
    if (n >= 0) times.push(performance.now() - began)
    await sent
  }
  socket.terminate()
  sender.close()
  return { p50: percentile(times, 50), p99: percentile(times, 99) }
}

/** The same with a node of PostgreSQL at each end. */
async function eventsAcross(folder: () => string, samples: number) {
  const server = await startPostgres({ durable: true })
  try {
    const env = { ...quiet, DATABASE_URL: await makeDatabase(server.url, 'events') }
    const [one, other] = [await startParley(folder(), env), await startParley(folder(), env)]
    const across = await events(one, other, { warming: warming / 2, samples })
    await Promise.all([one.stop(), other.stop()])
    return across
  } finally {
    await server.stop()
  }
}

/** The cost of idle sockets. Another process registers the agents: its garbage is not theirs. */
async function idleSockets(storage: string, count: number) {
  const registry = await startParley(storage, quiet)
  const keys = await register(registry, named('idle', count))
  await registry.stop()
  const parley = await startParley(storage, quiet)
  const warm = await openAgent(parley.port, keys[0])
  for (let n = 0; n < 500; n++) await warm.get('/inbox')
  await sleep(1000)
  const before = memory(parley.pid)
  const sockets: WebSocket[] = []
  for (let at = 0; at < count; at += 250)
    sockets.push(...(await Promise.all(keys.slice(at, at + 250).map((key) => openSocket(parley.port, key)))))
  await sleep(2000)
  const all = memory(parley.pid)
  for (const socket of sockets) socket.terminate()
  warm.close()
  await parley.stop()
  return { all, more: all - before }
}

/** Answers of `GET /inbox` with so many sessions of three messages each. */
async function inbox(storage: string, sessions: number, samples: number) {
  const parley = await startParley(storage, quiet)
  const [alice = '', bob = ''] = await register(parley, ['alice', 'bob'])
  await connectPair(parley, alice, { key: bob, name: 'bob' })
  const sender = await openAgent(parley.port, alice)
  for (let n = 0; n < 3; n++)
    await Promise.all(
      Array.from({ length: sessions }, (_, about) =>
        sender.post('/messages/send', { to: 'bob', subject: `Subject ${about}`, content: text }),
      ),
    )
  const reader = await openAgent(parley.port, bob)
  const times: number[] = []
  let before = 0
  for (let n = 0; n < samples + 20; n++) {
    if (n === 20) before = cpu(parley.pid)
    const began = performance.now()
    const answer = await reader.get('/inbox')
    if (n >= 20) times.push(performance.now() - began)
    if (n === 0 && (JSON.parse(answer) as { sessions: unknown[] }).sessions.length !== sessions)
      throw new Error('sessions are missing')
  }
  const work = (cpu(parley.pid) - before) / samples
  sender.close()
  reader.close()
  await parley.stop()
  return { p50: percentile(times, 50), p95: percentile(times, 95), work }
}

export interface PostSize {
  readonly samples: number
  readonly sockets: number
}

export async function postRows(folder: () => string, size: PostSize, say: (text: string) => void): Promise<Row[]> {
  say('an inbox of 500 sessions')
  const listed = await inbox(folder(), 500, size.samples / 2)
  say('events')
  const storage = folder()
  const [one, other] = [await startParley(storage, quiet), await startParley(storage, quiet)]
  const here = await events(one, one, { warming, samples: size.samples })
  // The one that sends is warm by now.
  const there = await events(one, other, { warming: halfWarm, samples: size.samples })
  await Promise.all([one.stop(), other.stop()])
  const across = await eventsAcross(folder, size.samples)
  say(`${size.sockets} idle sockets`)
  const idle = await idleSockets(folder(), size.sockets)
  const latency = ({ p50, p99 }: { p50: number; p99: number }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
  return [
    { what: 'send → event of a WebSocket', measured: latency(here), target: 'p50 ≤ 3 ms', reached: here.p50 <= 3 },
    {
      what: 'the same, other process on the same file',
      measured: latency(there),
      target: 'p50 ≤ 8 ms',
      reached: there.p50 <= 8,
    },
    {
      what: 'the same, two nodes on PostgreSQL',
      measured: latency(across),
      target: 'p50 ≤ 8 ms',
      reached: across.p50 <= 8,
    },
    {
      what: `${size.sockets.toLocaleString('en')} idle WebSockets`,
      measured: `${idle.more.toFixed(0)} MB more, ${idle.all.toFixed(0)} MB in all`,
      target: '≤ 150 MB',
      reached: idle.more <= 150,
    },
    {
      what: '`GET /inbox` with 500 sessions',
      measured: `p50 ${listed.p50.toFixed(1)} ms, p95 ${listed.p95.toFixed(1)} ms, CPU ${listed.work.toFixed(1)} ms`,
      target: 'p95 ≤ 15 ms',
      reached: listed.p95 <= 15,
    },
  ]
}
