/** Parley as a resource server of OAuth 2.1: its metadata, whom tokens are for, and what a refusal says. */
import { describe, expect } from 'vitest'
import { type Authority, startAuthority } from '../support/authority.ts'
import { type Served, serveHere, share } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, checkMail } from '../support/wire.ts'

const wellKnown = '/.well-known/oauth-protected-resource'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

const world = share(async (later): Promise<{ authority: Authority; parley: Served; behind: Served }> => {
  const authority = await startAuthority(later)
  const env = { HTTP_JWT_ENABLED: 'true', HTTP_JWT_JWKS_URL: authority.keysUrl, HTTP_JWT_ISSUER: authority.issuer }
  return {
    authority,
    parley: await serveHere({ env, later }),
    behind: await serveHere({ env: { ...env, HTTP_PUBLIC_URL: 'https://hub.example/parley/' }, later }),
  }
})

describe('The metadata of the hub', () => {
  verifies('all.oauth.metadata', 'says who issues tokens, and for what', async () => {
    const { parley, authority } = world()
    const far = { 'X-Forwarded-For': '203.0.113.9' }
    const answer = await ask(parley, { path: `${wellKnown}/hub/mcp`, headers: { ...far, Host: 'localhost:99' } })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(JSON.parse(answer.text)).toEqual({
      resource: 'http://localhost:99/hub/mcp',
      authorization_servers: [authority.issuer],
      scopes_supported: ['parley:read', 'parley:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Parley',
    })
    expect((await ask(parley, { path: wellKnown })).status).toBe(404)
    expect((await ask(parley, { path: `${wellKnown}/mcp` })).status).toBe(404)
    expect((await ask(parley, { path: `${wellKnown}/hub/mcp`, headers: { Host: 'evil.example' } })).status).toBe(403)
  })

  verifies('all.oauth.metadata', 'stands where the public URL puts it', async () => {
    for (const path of ['/hub/mcp', '/parley/hub/mcp']) {
      const answer = await ask(world().behind, { path: `${wellKnown}${path}`, headers: { Host: 'hub.example' } })
      expect(JSON.parse(answer.text)).toMatchObject({ resource: 'https://hub.example/parley/hub/mcp' })
    }
  })

  for (const missing of ['HTTP_JWT_ISSUER', 'HTTP_JWT_JWKS_URL'])
    verifies('all.oauth.metadata', `is not there without ${missing}`, async () => {
      const { authority } = world()
      const env = { HTTP_JWT_JWKS_URL: authority.keysUrl, HTTP_JWT_ISSUER: authority.issuer, [missing]: '' }
      const parley = await serveHere({ env: { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: 'x'.repeat(32), ...env } })
      expect((await ask(parley, { path: `${wellKnown}/hub/mcp` })).status).toBe(404)
    })
})

describe('A token', () => {
  const status = async (to: Served, claims: Record<string, unknown>, host: string) => {
    const headers = { ...bearer(await world().authority.sign({ sub: 'a', ...claims })), Host: host }
    return (await ask(to, checkMail('alice', headers))).status
  }
  const scope = 'parley:read parley:write'

  verifies('all.oauth.audience', 'is for the hub at the address that it was asked by', async () => {
    const { parley } = world()
    const aud = 'http://localhost:99/hub/mcp'
    expect(await status(parley, { aud, scope }, 'localhost:99')).toBe(200)
    expect(await status(parley, { aud: ['x', aud], scope }, 'localhost:99')).toBe(200)
    for (const other of [
      undefined,
      'http://localhost:99',
      'http://localhost:98/hub/mcp',
      'https://localhost:99/hub/mcp',
    ])
      expect(await status(parley, { aud: other, scope }, 'localhost:99'), String(other)).toBe(401)
  })

  verifies('all.oauth.audience', 'that was taken at one address is not taken at another', async () => {
    const { parley, authority } = world()
    const token = await authority.sign({ sub: 'a', scope, aud: 'http://localhost:99/hub/mcp' })
    const at = async (Host: string) => (await ask(parley, checkMail('alice', { ...bearer(token), Host }))).status
    expect([await at('localhost:99'), await at('localhost:98'), await at('localhost:99')]).toEqual([200, 401, 200])
  })

  verifies('all.oauth.audience', 'is for the public URL, where there is one', async () => {
    const { behind } = world()
    expect(await status(behind, { aud: 'https://hub.example/parley/hub/mcp', scope }, 'hub.example')).toBe(200)
    expect(await status(behind, { aud: 'http://hub.example/hub/mcp', scope }, 'hub.example')).toBe(401)
  })

  verifies(['all.oauth.audience', 'all.roles.order'], 'writes by its scope, else by the default role', async () => {
    const { parley } = world()
    const aud = 'http://localhost:99/hub/mcp'
    expect(await status(parley, { aud, scope: 'parley:write' }, 'localhost:99')).toBe(200)
    expect(await status(parley, { aud, scope: 'parley:read' }, 'localhost:99')).toBe(403)
    expect(await status(parley, { aud }, 'localhost:99')).toBe(403)
    expect(await status(parley, { aud, role: 'writer' }, 'localhost:99')).toBe(200)
  })
})
