/** Limits: how often a caller may call, counted by this process or by Redis for all. */
import { pino } from 'pino'
import { describe, expect, onTestFinished } from 'vitest'
import { inMemory, type Limiter, type Rates } from '../../src/doors/http/limits/limiter.ts'
import { inRedis } from '../../src/doors/http/limits/redis.ts'
import { openRedis } from '../../src/redis/redis.ts'
import { signShared } from '../support/authority.ts'
import { TestClock } from '../support/clock.ts'
import { readableLog } from '../support/logged.ts'
import { connectClient, type EraName, eras, type Served, serveHere } from '../support/parley.ts'
import { eachRealRedis, startStandIn } from '../support/redis.ts'
import { freePort } from '../support/redis-server.ts'
import { verifies } from '../support/verifies.ts'
import { type Answer, ask, openSession, openSocket } from '../support/wire.ts'

const secret = 'a secret of more than thirty-two bytes'
const operators = 'the-operators-token'
const slow = {
  HTTP_RATE_LIMIT_ENABLED: 'true',
  HTTP_RATE_LIMIT_PER_MINUTE: '3',
  HTTP_RATE_LIMIT_TOOLS_PER_MINUTE: '2',
  HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE: '4',
  HTTP_BEARER_TOKEN: operators,
  HTTP_JWT_ENABLED: 'true',
  HTTP_JWT_SECRET: secret,
}

const post = (to: Served, path: string, body: unknown, headers: object = {}): Promise<Answer> =>
  ask(to, {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const rpc = (method: string, params?: object, id = 1) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) })
const checkMail = (id = 1) => rpc('tools/call', { name: 'check_mail', arguments: {} }, id)
const readProjects = rpc('resources/read', { uri: 'resource://projects' })
const bearer = async (sub: string, more: object = {}) => ({
  Authorization: `Bearer ${await signShared(secret, { sub, role: 'writer', ...more })}`,
})

/** How many of these are let through before one is 429. */
async function passes(call: () => Promise<Answer>, most = 12): Promise<number> {
  for (let n = 0; n < most; n++) if ((await call()).status === 429) return n
  return most
}

describe('A caller', () => {
  verifies('all.limit.buckets', 'has a bucket for tools, one for resources, one for the rest', async () => {
    const parley = await serveHere({ env: slow })
    expect(await passes(() => post(parley, '/agents/alice/mcp', checkMail()))).toBe(2)
    expect(await passes(() => post(parley, '/mcp', readProjects))).toBe(4)
    expect(await passes(() => post(parley, '/mcp', rpc('tools/list')))).toBe(3)
    expect((await ask(parley, { path: '/metrics' })).status).toBe(429)
  })

  verifies('all.limit.buckets', 'has them for all doors together, and shares them with nobody', async () => {
    const parley = await serveHere({ env: slow })
    const as = await bearer('one')
    expect((await post(parley, '/agents/alice/mcp', checkMail(), as)).status).toBe(200)
    expect((await post(parley, '/bus/mcp', rpc('tools/call', { name: 'ping' }), as)).status).toBe(200)
    expect((await post(parley, '/mcp', rpc('tools/call', { name: 'health_check' }), as)).status).toBe(429)
    expect((await post(parley, '/agents/alice/mcp', checkMail(), await bearer('two'))).status).toBe(200)
    expect((await post(parley, '/agents/alice/mcp', checkMail())).status).toBe(200)
  })

  verifies('all.token.renewed', 'does not get a new bucket with a new token', async () => {
    const parley = await serveHere({ env: slow })
    let n = 0
    const call = async () => post(parley, '/agents/alice/mcp', checkMail(), await bearer('one', { jti: String(n++) }))
    expect(await passes(call)).toBe(2)
    n = 0
    const named = async () =>
      post(parley, '/agents/carla/mcp', checkMail(), await bearer(`owner-${n++}`, { agent: 'carla' }))
    expect(await passes(named)).toBe(2)
  })

  verifies('all.limit.refusal', 'is told when to come again', async () => {
    const parley = await serveHere({ env: slow })
    for (let n = 0; n < 2; n++) await post(parley, '/agents/alice/mcp', checkMail())
    const plain = await post(parley, '/agents/alice/mcp', checkMail())
    const short = await post(parley, '/agents/alice/mcp', { tool: 'check_mail' })
    for (const answer of [plain, short]) {
      expect(answer.status).toBe(429)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(25)
      expect(answer.headers['retry-after']).toMatch(/^(29|30)$/)
    }
    expect(JSON.parse(plain.text)).toMatchObject({ id: 1, error: { code: -32029, data: { code: 'RATE_LIMITED' } } })
    expect(JSON.parse(short.text)).toMatchObject({ error: { code: 'RATE_LIMITED' } })
  })

  verifies('all.limit.counted', 'spends one for each message of a batch', async () => {
    const parley = await serveHere({ env: slow })
    const batch = [checkMail(1), checkMail(2), checkMail(3), readProjects]
    const answer = await post(parley, '/agents/alice/mcp', batch)
    expect(answer.status).toBe(200)
    const answers = JSON.parse(answer.text) as { id: number; error?: { data?: { code?: string } } }[]
    expect(answers.filter(({ error }) => error?.data?.code === 'RATE_LIMITED').map(({ id }) => id)).toEqual([3])
    const again = await post(parley, '/agents/alice/mcp', [checkMail(1), checkMail(2)])
    expect(again.status).toBe(429)
    expect(again.headers['retry-after']).toBeDefined()
  })

  verifies('all.limit.counted', 'spends one for a short form, a notification, and the end of a session', async () => {
    const parley = await serveHere({ env: slow })
    expect(await passes(() => post(parley, '/agents/alice/mcp', { tool: 'check_mail' }))).toBe(2)
    const endpoint = `${parley.url}/mcp`
    const session = await openSession(endpoint)
    const end = () => ask(parley, { method: 'DELETE', path: '/mcp', headers: { 'Mcp-Session-Id': session } })
    expect((await post(parley, '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
    expect((await end()).status).toBe(200)
    expect((await end()).status).toBe(429)
  })

  for (const era of eras)
    verifies('all.limit.counted', `is limited in ${era} too`, async () => {
      const parley = await serveHere({ env: { ...slow, HTTP_RATE_LIMIT_PER_MINUTE: '100' } })
      const client = await connectClient(`${parley.url}/agents/alice/mcp`, era as EraName)
      for (let n = 0; n < 2; n++) await client.callTool({ name: 'check_mail', arguments: {} })
      await expect(client.callTool({ name: 'check_mail', arguments: {} })).rejects.toThrow(/too often|429/)
    })

  verifies('all.limit.free', 'who is the operator is not limited', async () => {
    const parley = await serveHere({ env: slow })
    const as = { Authorization: `Bearer ${operators}` }
    expect(await passes(() => post(parley, '/agents/alice/mcp', checkMail(), as))).toBe(12)
    expect(await passes(() => ask(parley, { path: '/metrics', headers: as }))).toBe(12)
  })

  verifies('all.limit.free', 'is not limited in health probes, event streams and what is not there', async () => {
    const parley = await serveHere({ env: slow })
    const session = await openSession(`${parley.url}/mcp`)
    for (let n = 0; n < 5; n++) {
      expect((await ask(parley, { path: '/health/liveness' })).status).toBe(200)
      expect((await ask(parley, { path: `/mail/${n}` })).status).not.toBe(429)
      const socket = await openSocket(parley)
      socket.write(
        `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${parley.port}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\n\r\n`,
      )
      await expect.poll(() => socket.received()).toMatch(/^HTTP\/1.1 200 /)
    }
    expect(await passes(() => ask(parley, { path: '/metrics' }))).toBe(2)
  })
})

describe('A bucket', () => {
  const rate = { perMinute: 60, burst: 3 }
  const rates: Rates = { tools: rate, resources: rate, requests: { perMinute: 0, burst: 0 } }

  verifies('all.limit.refusal', 'fills by the minute up to its burst, and tells how long to wait', () => {
    const clock = new TestClock()
    const limiter = inMemory(rates, clock)
    const taken = Array.from({ length: 4 }, () => limiter.take('a', 'tools'))
    expect(taken).toEqual([0, 0, 0, 1000])
    clock.advance(999)
    expect(limiter.take('a', 'tools')).toBeCloseTo(1)
    clock.advance(1)
    expect(limiter.take('a', 'tools')).toBe(0)
    clock.advance(3_600_000)
    expect(Array.from({ length: 4 }, () => limiter.take('a', 'tools'))).toEqual([0, 0, 0, 1000])
    expect(limiter.take('b', 'tools')).toBe(0)
    expect(limiter.take('a', 'resources')).toBe(0)
    for (let n = 0; n < 100; n++) expect(limiter.take('a', 'requests')).toBe(0)
  })

  eachRealRedis('in Redis', (start) => {
    verifies('all.limit.redis', 'is one for all processes', async () => {
      const { url } = await start()
      const who = `caller ${Math.random()}`
      const nodes = Array.from({ length: 3 }, (): Limiter => {
        const redis = openRedis(url)
        const limiter = inRedis(redis, rates, {
          fallback: inMemory(rates, new TestClock()),
          log: pino({ level: 'silent' }),
        })
        onTestFinished(() => limiter.close())
        return limiter
      })
      const waits = await Promise.all(Array.from({ length: 12 }, (_, n) => nodes[n % 3]?.take(who, 'tools')))
      expect(waits.filter((wait) => wait === 0)).toHaveLength(3)
      for (const wait of waits.filter((wait) => wait !== 0)) expect(wait).toBeGreaterThan(0)
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(1000)
      expect(await nodes[0]?.take(who, 'resources')).toBe(0)
    })

    verifies('all.limit.redis', 'is shared by two servers', async () => {
      const { url } = await start()
      const env = { ...slow, HTTP_RATE_LIMIT_BACKEND: 'redis', HTTP_RATE_LIMIT_REDIS_URL: url }
      const as = await bearer(`caller ${Math.random()}`)
      const [one, other] = [await serveHere({ env }), await serveHere({ env })]
      const statuses: number[] = []
      for (const server of [one, other, one, other])
        statuses.push((await post(server, '/agents/alice/mcp', checkMail(), as)).status)
      expect(statuses).toEqual([200, 200, 429, 429])
    })
  })

  verifies('all.limit.away', 'is kept in memory while Redis is away, which the log says once', async () => {
    const { log, lines } = readableLog()
    const clock = new TestClock()
    const port = await freePort()
    const redis = openRedis(`redis://127.0.0.1:${port}`, { clock })
    const limiter = inRedis(redis, rates, { fallback: inMemory(rates, clock), log })
    onTestFinished(() => limiter.close())
    const take = () => limiter.take('a', 'tools')
    expect([await take(), await take(), await take(), await take()]).toEqual([0, 0, 0, 1000])
    expect(lines.map(({ msg }) => msg)).toEqual(['Redis is away: this process counts limits alone'])
    await startStandIn({ port, answer: () => ':0\r\n' })
    clock.advance(5000)
    expect(await take()).toBe(0)
    expect(lines.map(({ msg }) => msg).at(-1)).toMatch(/Redis is back/)
    expect(lines).toHaveLength(2)
  })

  verifies('all.limit.away', 'does not keep a server waiting for a Redis that is not there', async () => {
    const HTTP_RATE_LIMIT_REDIS_URL = `redis://127.0.0.1:${await freePort()}`
    const parley = await serveHere({ env: { ...slow, HTTP_RATE_LIMIT_BACKEND: 'redis', HTTP_RATE_LIMIT_REDIS_URL } })
    expect(await passes(() => post(parley, '/agents/alice/mcp', checkMail()))).toBe(2)
  })
})
