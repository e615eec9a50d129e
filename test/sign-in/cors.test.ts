/** Pages of other sites: what a browser is told before it asks, and with each answer. */
import { describe, expect } from 'vitest'
import { serveHere, share } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, checkMail } from '../support/wire.ts'

const token = 'the-operators-token'
const site = 'https://pages.example'
const preflight = (origin: string, more: Record<string, string> = {}) => ({
  method: 'OPTIONS',
  path: '/agents/alice/mcp',
  headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', ...more },
})

describe('A listed site', () => {
  const parley = share((later) =>
    serveHere({
      env: {
        HTTP_BEARER_TOKEN: token,
        HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false',
        HTTP_CORS_ENABLED: 'true',
        HTTP_CORS_ORIGINS: `${site}, https://other.example:8443`,
        HTTP_CORS_ALLOW_CREDENTIALS: 'true',
      },
      later,
    }),
  )

  verifies('all.cors.preflight', 'is told what it may send, without credentials', async () => {
    const asked = { 'Access-Control-Request-Headers': 'content-type, MCP-Protocol-Version, bad name' }
    for (const path of ['/agents/alice/mcp', '/metrics', '/mcp/']) {
      const { status, headers, text } = await ask(parley(), { ...preflight(site, asked), path })
      expect([status, text]).toEqual([204, ''])
      expect(headers).toMatchObject({
        'access-control-allow-origin': site,
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': '*, authorization, content-type, mcp-protocol-version',
        vary: 'Origin',
      })
      expect(headers['access-control-allow-methods']).toMatch(/POST.*DELETE/)
    }
    expect((await ask(parley(), preflight('HTTPS://Other.example:8443'))).status).toBe(204)
  })

  verifies('all.cors.preflight', 'alone is told: any other gets 403, and nothing that lets it read', async () => {
    for (const origin of ['https://evil.example', 'http://pages.example', `${site}.evil.example`, 'null', '*']) {
      const { status, headers } = await ask(parley(), preflight(origin))
      expect(status).toBe(403)
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
    const plain = await ask(parley(), { method: 'OPTIONS', path: '/mcp', headers: { Origin: site } })
    expect(plain.status).toBe(401)
  })

  verifies('all.cors.answers', 'reads answers and refusals alike', async () => {
    const bearer = { Authorization: `Bearer ${token}` }
    const initialize = {
      ...checkMail('alice', { Origin: site, Accept: 'application/json, text/event-stream', ...bearer }),
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
    }
    const good = await ask(parley(), initialize)
    const [refused, missing] = [
      await ask(parley(), checkMail('alice', { Origin: site })),
      await ask(parley(), { path: '/nothing', headers: { Origin: site } }),
    ]
    expect([good.status, refused.status, missing.status]).toEqual([200, 401, 404])
    expect(good.headers['mcp-session-id']).toBeDefined()
    expect(refused.headers['www-authenticate']).toBe('Bearer')
    for (const { headers } of [good, refused, missing]) {
      expect(headers).toMatchObject({ 'access-control-allow-origin': site, vary: 'Origin' })
      expect(headers['access-control-expose-headers']).toMatch(/Mcp-Session-Id, WWW-Authenticate/)
    }
    const own = await ask(parley(), checkMail('alice', bearer))
    expect(own.headers['access-control-allow-origin']).toBeUndefined()
    expect(own.headers.vary).toBe('Origin')
  })
})

describe('Every site', () => {
  verifies('all.cors.everybody', 'may call with credentials, and never as a local caller', async () => {
    const env = { HTTP_BEARER_TOKEN: token, HTTP_CORS_ENABLED: 'true', HTTP_CORS_ORIGINS: '*' }
    const parley = await serveHere({ env })
    for (const Origin of ['https://evil.example', 'null']) {
      const { status, headers } = await ask(parley, checkMail('alice', { Origin }))
      expect([status, headers['access-control-allow-origin']]).toEqual([401, Origin])
      expect(headers['access-control-allow-credentials']).toBeUndefined()
      const known = await ask(parley, checkMail('alice', { Origin, Authorization: `Bearer ${token}` }))
      expect(known.status).toBe(200)
    }
    expect((await ask(parley, checkMail('alice'))).status).toBe(200)
    expect(
      (
        await ask(
          parley,
          checkMail('alice', { Origin: `http://127.0.0.1:${parley.port}`, Host: `127.0.0.1:${parley.port}` }),
        )
      ).status,
    ).toBe(200)
  })

  verifies('all.cors.everybody', 'is let in by no list that is off', async () => {
    const parley = await serveHere({ env: { HTTP_CORS_ORIGINS: '*' } })
    expect((await ask(parley, preflight(site))).status).toBe(403)
    expect((await ask(parley, checkMail('alice', { Origin: site }))).status).toBe(403)
  })
})
