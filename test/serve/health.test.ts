/** The questions of an operator's machines: is it alive, is it ready; and paths that are there or not. */
import { pino } from 'pino'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../src/base/metrics.ts'
import { createApp } from '../../src/doors/http/app.ts'
import { TestClock } from '../support/clock.ts'
import { eachEngine } from '../support/engines.ts'
import { openLine } from '../support/line.ts'
import { mailbox, serveHere, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { openSession, pingSession } from '../support/wire.ts'

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status

describe('A server', () => {
  const parley = shareServer()

  verifies('serve.health.live', 'says that it is alive', async () => {
    const response = await fetch(`${parley().url}/health/liveness`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ status: 'alive' })
  })

  verifies('serve.paths.slash', 'answers every path with and without a slash at its end', async () => {
    for (const path of ['/health/liveness', '/health/readiness', '/metrics'])
      for (const end of ['', '/', '?x=1', '/?x=1'])
        expect([path + end, await statusOf(parley().url + path + end)]).toEqual([path + end, 200])
    const { url } = parley()
    const session = await openSession(`${url}/agents/alice/mcp`)
    expect(await pingSession(`${url}/agents/alice/mcp/`, session)).toBe(200)
    await mailbox(parley(), 'bob', { query: '/?project=/srv/slashes' }).send('alice', 'hello')
    expect(await mailbox(parley(), 'alice', { query: '?project=/srv/slashes' }).check()).toMatchObject({
      content: 'hello',
    })
  })

  test.each([
    '/nothing',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/agents/alice/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/agents',
    '/agents/alice',
    '/agents/alice/mcp/more',
    '/health',
  ])('has nothing at %s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(parley().url + path, { method })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
    }
  })
})

describe('Readiness', () => {
  const appWith = (ready: () => Promise<void>) => {
    const clock = new TestClock()
    const app = createApp({
      host: '127.0.0.1',
      allowedHosts: [],
      allowedOrigins: [],
      bearerToken: undefined,
      allowLocalUnauthenticated: true,
      callerOfKey: async () => undefined,
      clock,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      ready,
      refresh: async () => {},
    })
    onTestFinished(() => app.close())
    const ask = (path: string) => app.inject({ url: path, headers: { host: '127.0.0.1' } })
    return { clock, ask }
  }

  verifies('serve.health.ready', 'is there while the database answers, and leaves no timer behind', async () => {
    const { clock, ask } = appWith(async () => {})
    expect((await ask('/health/readiness')).statusCode).toBe(200)
    expect(clock.pending).toBe(0)
  })

  verifies('serve.health.ready', 'is not there while the database fails', async () => {
    const { clock, ask } = appWith(() => Promise.reject(new Error('no disk')))
    const answer = await ask('/health/readiness')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({ status: 'unavailable' })
    expect(clock.pending).toBe(0)
    expect((await ask('/health/liveness')).statusCode).toBe(200)
  })

  verifies('serve.health.ready', 'is not there when the database is silent for too long', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const { clock, ask } = appWith(() => {
      resolve()
      return new Promise(() => {})
    })
    const answer = ask('/health/readiness')
    await asked
    clock.advance(2000)
    expect((await answer).statusCode).toBe(503)
  })
})

eachEngine('A server with a database', (open, dialect) => {
  const ends: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  const start = (url: string) => serveHere({ env: { DATABASE_URL: url }, later: (work) => ends.push(work) })

  verifies('serve.health.ready', 'is ready', async () => {
    const { url } = await open({ empty: true })
    const parley = await start(url)
    expect(await statusOf(`${parley.url}/health/readiness`)).toBe(200)
    await parley.stop()
  })

  if (dialect === 'postgres')
    verifies(
      'serve.health.ready',
      'is ready only while PostgreSQL can be reached, and alive all the time',
      async () => {
        const { url } = await open({ empty: true })
        const line = await openLine(url, (work) => ends.push(work))
        const parley = await start(line.url)
        const ready = () => statusOf(`${parley.url}/health/readiness`)
        expect(await ready()).toBe(200)
        line.cut()
        expect(await ready()).toBe(503)
        expect(await statusOf(`${parley.url}/health/liveness`)).toBe(200)
        line.mend()
        await expect.poll(ready, { timeout: 10_000 }).toBe(200)
        expect(await mailbox(parley, 'alice').check()).toBeNull()
        await parley.stop()
      },
    )
})
