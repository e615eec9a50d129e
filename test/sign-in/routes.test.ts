/** Plain routes of a server that holds callers to their roles, and what the hub says to those it refuses. */
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { describe, expect, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { type Caller, tokenCaller } from '../../src/core/access/callers.ts'
import { needWriting } from '../../src/core/access/rules.ts'
import { type AppOptions, createApp, listen } from '../../src/doors/http/app.ts'
import { verifies } from '../support/verifies.ts'
import { ask } from '../support/wire.ts'

const callers: Record<string, Caller> = { 'r..': tokenCaller('r', false), 'w..': tokenCaller('w', true) }
const metadata = 'resource_metadata="https://hub.example/.well-known/oauth-protected-resource/hub/mcp"'
const oauth = { issuer: 'https://issuer.example', tokens: true }

/** A server whose tokens are the two above. */
async function start(resource: AppOptions['resource'] = {}) {
  const app = createApp({
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    bearerToken: undefined,
    allowLocalUnauthenticated: true,
    callerOfKey: async () => undefined,
    tokens: { callerOf: (token) => callers[token] ?? Promise.reject(new Error('no such token')) },
    admission: { settle: async (caller) => caller },
    resource,
    publicUrl: 'https://hub.example',
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    ready: async () => {},
    refresh: async () => {},
  })
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
    app.route({ method, url: '/thing', handler: async () => ({ done: true }) })
  app.route({
    method: 'POST',
    url: '/hub/mcp',
    config: { messages: true },
    handler: async ({ caller }) => {
      needWriting(caller)
      return { done: true }
    },
  })
  await listen(app, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return (method: string, path: string, headers: Record<string, string> = {}) =>
    ask({ port }, method === 'GET' ? { path, headers } : { method, path, headers: { ...json, ...headers }, body: '{}' })
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const json = { 'Content-Type': 'application/json', 'Content-Length': '2' }
const far = { 'X-Forwarded-For': '203.0.113.9' }

describe('A plain route', () => {
  verifies('all.roles.routes', 'is read by readers, and written to by writers only', async () => {
    const call = await start()
    expect((await call('GET', '/thing', bearer('r..'))).status).toBe(200)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await call(method, '/thing', bearer('r..'))
      expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([403, 'FORBIDDEN'])
      expect(refused.headers['www-authenticate']).toBeUndefined()
      for (const headers of [bearer('w..'), {}]) expect((await call(method, '/thing', headers)).status).toBe(200)
    }
  })
})

describe('The hub', () => {
  verifies('all.oauth.challenge', 'tells where to get a token', async () => {
    const call = await start(oauth)
    const scope = 'scope="parley:read parley:write"'
    const challenge = async (path: string, headers: Record<string, string>) => {
      const { status, headers: told } = await call('POST', path, headers)
      return [status, told['www-authenticate']]
    }
    for (const path of ['/hub/mcp', '/hub/mcp/', '/hub/mcp?agent=x'])
      expect(await challenge(path, far)).toEqual([401, `Bearer ${scope}, ${metadata}`])
    const wrong = [401, `Bearer error="invalid_token", ${scope}, ${metadata}`]
    expect(await challenge('/hub/mcp', bearer('wrong'))).toEqual(wrong)
    expect(await challenge('/hub/mcp', { 'X-API-Key': 'wrong' })).toEqual(wrong)
    expect(await challenge('/thing', far)).toEqual([401, 'Bearer'])
    expect(await challenge('/thing', bearer('wrong'))).toEqual([401, 'Bearer error="invalid_token"'])
    const scarce = [403, `Bearer error="insufficient_scope", ${scope}, ${metadata}`]
    expect(await challenge('/hub/mcp', bearer('r..'))).toEqual(scarce)
    expect(await challenge('/hub/mcp', bearer('w..'))).toEqual([200, undefined])
    expect(await challenge('/hub/mcp', { Host: 'evil.example' })).toEqual([403, undefined])
  })

  verifies('all.oauth.challenge', 'names no metadata while OAuth is off', async () => {
    const call = await start({ tokens: true })
    expect((await call('POST', '/hub/mcp', far)).headers['www-authenticate']).toBe('Bearer')
    const scarce = await call('POST', '/hub/mcp', bearer('r..'))
    expect(scarce.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"')
  })
})
