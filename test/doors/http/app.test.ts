/** The shell around all doors: who comes in, what is not there, health and metrics. */

import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { local, operator } from '../../../src/core/access/callers.ts'
import { type AppOptions, createApp, listen } from '../../../src/doors/http/app.ts'
import { TestClock } from '../../support/clock.ts'
import { http, type Sent } from '../mcp/use.ts'

async function start(options: Partial<AppOptions> = {}) {
  const app = createApp({
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    bearerToken: undefined,
    allowLocalUnauthenticated: true,
    callerOfKey: async () => undefined,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    ready: async () => {},
    refresh: async () => {},
    ...options,
  })
  app.get('/who', async (request) => request.caller)
  app.post('/take', async (request) => ({ took: request.body }))
  app.get('/crash', async () => {
    throw new Error('secret detail')
  })
  await listen(app, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return (path: string, sent: Sent = {}) => http(`${base}${path}`, { method: 'GET', ...sent })
}

describe('the Host of a request', () => {
  test.each(['localhost', 'localhost:8765', '127.0.0.1', '127.0.0.1:80', '[::1]:8765', 'LOCALHOST'])(
    'may be %s',
    async (host) => {
      const get = await start()
      expect((await get('/who', { headers: { host } })).status).toBe(200)
    },
  )

  test.each(['evil.example', 'localhost.evil.example', '10.0.0.1', 'evil.example:8765', '127.0.0.1.nip.io'])(
    'may not be %j',
    async (host) => {
      const get = await start()
      expect(await get('/who', { headers: { host } })).toMatchObject({
        status: 403,
        json: { error: { code: 'FORBIDDEN' } },
      })
    },
  )

  test('may be a name the operator gave, or the address it is bound to', async () => {
    const bearerToken = 'correct-horse'
    const get = await start({ host: '192.168.7.7', allowedHosts: ['hub.example'], bearerToken })
    const authorization = `Bearer ${bearerToken}`
    for (const host of ['hub.example', 'Hub.Example:8765', '192.168.7.7'])
      expect((await get('/who', { headers: { host, authorization } })).status).toBe(200)
    expect((await get('/who', { headers: { host: '192.168.7.8', authorization } })).status).toBe(403)
  })

  test.each(['0.0.0.0', '::'])('may be any address when bound to %s, but no unknown name', async (host) => {
    const get = await start({ host })
    for (const address of ['10.1.2.3:8765', '[fe80::1]:8765'])
      expect((await get('/health/liveness', { headers: { host: address } })).status).toBe(200)
    expect((await get('/health/liveness', { headers: { host: 'evil.example' } })).status).toBe(403)
  })

  test('is looked at for probes and unknown paths too', async () => {
    const get = await start()
    for (const path of ['/health/liveness', '/nothing'])
      expect((await get(path, { headers: { host: 'evil.example' } })).status).toBe(403)
  })
})

describe('the Origin of a request', () => {
  test.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])('may be %s', async (origin) => {
    const get = await start()
    expect((await get('/who', { headers: { host: '127.0.0.1:3000', origin } })).status).toBe(200)
    expect((await get('/who', { headers: { host: '127.0.0.1:8765', origin } })).status).toBe(403)
  })

  test.each(['null', 'https://evil.example', 'http://localhost.evil.example', 'nonsense', ''])(
    'may not be %j',
    async (origin) => {
      const get = await start()
      expect((await get('/who', { headers: { origin } })).status).toBe(403)
    },
  )
})

test('bound to every address, a page is ours only if it comes from the address that is called', async () => {
  const get = await start({ host: '0.0.0.0' })
  const from = async (origin: string) =>
    (await get('/health/liveness', { headers: { host: '10.1.2.3:8765', origin } })).status
  expect(await from('http://10.1.2.3:8765')).toBe(200)
  expect(await from('http://6.6.6.6')).toBe(403)
})

describe('credentials', () => {
  const bearerToken = 'correct-horse'

  test('a program on this machine is the local caller', async () => {
    const get = await start({ bearerToken })
    expect((await get('/who')).json).toEqual(local)
  })

  test.each<Record<string, string>>([
    { authorization: 'Bearer correct-horse' },
    { authorization: 'bearer correct-horse' },
    { 'x-api-key': 'correct-horse' },
  ])('%j is the operator', async (headers) => {
    const get = await start({ bearerToken })
    expect((await get('/who', { headers })).json).toEqual(operator)
  })

  test.each<Record<string, string>>([
    { authorization: 'Bearer wrong' },
    { authorization: 'Bearer ' },
    { authorization: 'Basic Y29ycmVjdC1ob3JzZQ==' },
    { authorization: 'correct-horse' },
    { 'x-api-key': 'wrong' },
    { authorization: 'Bearer correct-horse', 'x-api-key': 'correct-horse' },
  ])('%j is refused, even from this machine', async (headers) => {
    const get = await start({ bearerToken })
    expect(await get('/who', { headers })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      json: { error: { code: 'UNAUTHENTICATED' } },
    })
  })

  test('a token is refused where none was set', async () => {
    const get = await start()
    for (const authorization of ['Bearer undefined', 'Bearer x', 'Bearer'])
      expect((await get('/who', { headers: { authorization } })).status).toBe(401)
  })

  test.each(['forwarded', 'x-forwarded-for', 'x-real-ip'])(
    'a request that was passed on (%s) is not local',
    async (header) => {
      const get = await start({ bearerToken })
      expect((await get('/who', { headers: { [header]: '127.0.0.1' } })).status).toBe(401)
    },
  )

  test('they are needed from everybody if the operator says so', async () => {
    const get = await start({ bearerToken, allowLocalUnauthenticated: false })
    expect((await get('/who')).status).toBe(401)
    expect((await get('/metrics')).status).toBe(401)
    expect((await get('/health/liveness')).status).toBe(200)
  })

  test('what is not there is not there for strangers either', async () => {
    const get = await start({ bearerToken, allowLocalUnauthenticated: false })
    for (const path of ['/.well-known/oauth-protected-resource', '/nothing?x=1', '/'])
      expect(await get(path)).toMatchObject({ status: 404, json: { error: { code: 'NOT_FOUND' } } })
  })
})

describe('health', () => {
  test('a process that answers is alive', async () => {
    const get = await start()
    expect(await get('/health/liveness')).toMatchObject({ status: 200, json: { status: 'alive' } })
    expect((await get('/health/liveness/')).status).toBe(200)
  })

  test('it is ready when its store is', async () => {
    const get = await start()
    expect(await get('/health/readiness')).toMatchObject({ status: 200, json: { status: 'ready' } })
  })

  test('it is not when its store fails', async () => {
    const get = await start({ ready: () => Promise.reject(new Error('secret detail')) })
    const answer = await get('/health/readiness')
    expect(answer).toMatchObject({ status: 503, json: { status: 'unavailable' } })
    expect(answer.text).not.toContain('secret')
  })

  test('nor when its store does not answer', async () => {
    const clock = new TestClock()
    const asked = Promise.withResolvers<void>()
    const get = await start({
      clock,
      ready() {
        asked.resolve()
        return new Promise(() => {})
      },
    })
    const answer = get('/health/readiness')
    await asked.promise
    clock.advance(2000)
    expect((await answer).status).toBe(503)
  })

  test('metrics are brought up to date before they are shown', async () => {
    const metrics = createMetrics()
    const get = await start({ metrics, refresh: async () => metrics.unread.set(7) })
    const { status, text, headers } = await get('/metrics')
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/plain')
    expect(text).toContain('parley_unread 7')
  })
})

describe('errors', () => {
  test.each<[string, Sent, number]>([
    ['bad JSON', { body: '{' }, 400],
    ['another type', { body: 'x', headers: { 'content-type': 'text/plain' } }, 415],
    ['too much', { body: JSON.stringify('x'.repeat(4 << 20)) }, 413],
  ])('%s has its status and our shape', async (_, sent, status) => {
    const get = await start()
    expect(await get('/take', { method: 'POST', ...sent })).toMatchObject({
      status,
      json: { error: { code: 'INVALID_ARGUMENT' } },
    })
  })

  test('a path that cannot be read has its status and our shape', async () => {
    const get = await start()
    expect(await get('/%E0%A4%A')).toMatchObject({ status: 400, json: { error: { code: 'INVALID_ARGUMENT' } } })
  })

  test('an unexpected one shows nothing of its cause, and is logged once', async () => {
    const lines: string[] = []
    const get = await start({ log: pino({ level: 'info' }, { write: (line: string) => lines.push(line) }) })
    const answer = await get('/crash')
    expect(answer).toMatchObject({ status: 500, json: { error: { code: 'INTERNAL' } } })
    expect(answer.text).not.toContain('secret')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('secret detail')
  })
})

describe('the log', () => {
  const record = (level: string) => {
    const lines: string[] = []
    return { lines, log: pino({ level }, { write: (line: string) => lines.push(line) }) }
  }

  test('has a line for each request when it is told to, without query, token or body', async () => {
    const { lines, log } = record('debug')
    const get = await start({ log, bearerToken: 'correct-horse' })
    await get('/take?api_key=hidden', {
      method: 'POST',
      headers: { authorization: 'Bearer correct-horse' },
      body: { private: 'letter' },
    })
    const [line = ''] = lines
    expect(JSON.parse(line)).toMatchObject({ method: 'POST', path: '/take', status: 200, ms: expect.any(Number) })
    expect(lines.join('')).not.toMatch(/hidden|correct-horse|letter/)
  })

  test('has none otherwise', async () => {
    const { lines, log } = record('info')
    const get = await start({ log })
    await get('/who')
    expect(lines).toEqual([])
  })
})
