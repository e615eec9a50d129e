/** Access over HTTP: credentials, callers on this machine, foreign sites, names in the path. */
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { serveHere, shareServer } from '../support/parley.ts'
import { register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'
import { type Answer, ask, checkMail, openSession, openSocket } from '../support/wire.ts'

const token = 'the-operators-token'
const bearer = { Authorization: `Bearer ${token}` }

const codeOf = ({ text }: Answer): unknown => {
  const { error } = JSON.parse(text) as { error?: { code: unknown; data?: { code: unknown } } }
  return error?.data?.code ?? error?.code
}

const headersOfProxies = [
  'Forwarded',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Forwarded-Prefix',
  'X-Forwarded',
  'X-Forwarder-For',
  'X-Real-IP',
  'X-Client-IP',
  'Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'CF-Ray',
  'Cdn-Loop',
  'X-Cluster-Client-IP',
  'Fastly-Client-IP',
  'X-Original-Forwarded-For',
  'X-Original-Host',
  'X-Original-URL',
  'X-ProxyUser-Ip',
  'Proxy-Connection',
  'Fly-Client-IP',
  'X-Envoy-External-Address',
  'X-Envoy-Expected-Rq-Timeout-Ms',
  'X-Appengine-User-Ip',
  'X-Azure-ClientIP',
  'X-Arr-Log-Id',
  'X-Nf-Client-Connection-Ip',
  'X-Vercel-Forwarded-For',
  'X-Remote-Addr',
  'Remote-User',
  'WL-Proxy-Client-IP',
  'X-Varnish',
  'Tailscale-User-Login',
  'Akamai-Origin-Hop',
  'X-Scheme',
  'X-Nginx-Proxy',
  'X-Goog-IAP-JWT-Assertion',
  'X-Goog-Authenticated-User-Email',
  'X-Amzn-Trace-Id',
  'X-Amzn-Oidc-Data',
  'X-Cloud-Trace-Context',
  'X-MS-Client-Principal',
  'X-MS-Proxy',
  'X-Auth-Request-Email',
  'X-Authentik-Username',
  'X-Pomerium-Jwt-Assertion',
  'Teleport-Jwt-Assertion',
  'X-Webauth-User',
  'X-Kong-Request-Id',
  'X-Traefik-Router',
  'X-HAProxy-Server-State',
  'X-Edge-Location',
  'X-SSL-Client-Cert',
  'Ssl-Client-Verify',
  'X-Client-Cert',
  'Client-Cert',
  'X-Script-Name',
  'X-Sendfile-Type',
  'X-Accel-Mapping',
  'X-CDN',
]

describe('A server that wants credentials of everybody', () => {
  const parley = shareServer({ env: { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' } })

  verifies('all.credentials.bearer', 'takes the token from Authorization: Bearer', async () => {
    for (const given of [`Bearer ${token}`, `bearer  ${token}`, `BEARER ${token} `])
      expect((await ask(parley(), checkMail('alice', { Authorization: given }))).status).toBe(200)
  })

  verifies('all.credentials.bearer', 'takes the token from X-API-Key', async () => {
    expect((await ask(parley(), checkMail('alice', { 'X-API-Key': token }))).status).toBe(200)
  })

  const wrong: Record<string, Record<string, string>> = {
    'no credentials': {},
    'a wrong token': { Authorization: 'Bearer guess' },
    'a token with more behind it': { Authorization: `Bearer ${token}x` },
    'a part of the token': { Authorization: `Bearer ${token.slice(0, -1)}` },
    'another scheme': { Authorization: `Basic ${btoa(`operator:${token}`)}` },
    'the token alone': { Authorization: token },
    'an empty token': { Authorization: 'Bearer ' },
    'an empty header': { Authorization: '' },
    'a wrong key': { 'X-API-Key': 'guess' },
    'an empty key': { 'X-API-Key': '' },
    'the token and a wrong key': { ...bearer, 'X-API-Key': 'guess' },
  }
  for (const [what, headers] of Object.entries(wrong))
    verifies('all.credentials.wrong', `answers 401 to ${what}`, async () => {
      for (const request of [checkMail('alice', headers), { path: '/metrics', headers }]) {
        const answer = await ask(parley(), request)
        expect(answer.status).toBe(401)
        expect(answer.headers['www-authenticate']).toBe('Bearer')
        expect(codeOf(answer)).toBe('UNAUTHENTICATED')
        expect(answer.text).not.toContain(token)
      }
    })

  verifies('all.credentials.wrong', 'answers 401 to a session id that comes without its credentials', async () => {
    const session = await openSession(`${parley().url}/agents/alice/mcp`, bearer)
    expect((await ask(parley(), checkMail('alice', { 'Mcp-Session-Id': session }))).status).toBe(401)
    expect((await ask(parley(), checkMail('alice', { 'Mcp-Session-Id': session, ...bearer }))).status).toBe(200)
  })

  test('wants none of probes, nor to say that something is not there', async () => {
    expect((await ask(parley(), { path: '/health/liveness' })).status).toBe(200)
    expect((await ask(parley(), { path: '/health/readiness/' })).status).toBe(200)
    expect((await ask(parley(), { path: '/.well-known/oauth-protected-resource' })).status).toBe(404)
    expect((await ask(parley(), { path: '/healthy/../metrics' })).status).not.toBe(200)
  })

  verifies('all.credentials.local', 'wants them of callers on this machine too', async () => {
    expect((await ask(parley(), checkMail('alice'))).status).toBe(401)
  })
})

describe('A server with a token', () => {
  const parley = shareServer({
    env: {
      HTTP_BEARER_TOKEN: token,
      HTTP_ALLOWED_HOSTS: 'parley.example, Other.Example',
      HTTP_ALLOWED_ORIGINS: 'https://pages.example:8443, https://other-pages.example, chrome-extension://abcdef',
    },
  })

  verifies('all.credentials.local', 'lets callers on this machine in without it', async () => {
    expect((await ask(parley(), checkMail('alice'))).status).toBe(200)
    expect((await ask(parley(), checkMail('alice', bearer))).status).toBe(200)
    expect((await ask(parley(), { path: '/metrics' })).status).toBe(200)
  })

  for (const header of headersOfProxies)
    verifies('all.credentials.proxied', `takes nobody for local who comes through a proxy (${header})`, async () => {
      for (const value of ['203.0.113.9', '127.0.0.1', 'for=127.0.0.1', ''])
        for (const name of [header, header.toUpperCase()])
          expect((await ask(parley(), checkMail('alice', { [name]: value }))).status).toBe(401)
      expect((await ask(parley(), checkMail('alice', { [header]: '203.0.113.9', ...bearer }))).status).toBe(200)
    })

  verifies('all.credentials.proxied', 'takes a client for local whatever else it sends', async () => {
    const plain = {
      'User-Agent': 'claude-code/2.1',
      'X-Request-Id': '7',
      'X-Client-Name': 'codex',
      Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      Connection: 'keep-alive',
      Cookie: 'a=b',
      Referer: 'http://localhost/',
      'Mcp-Name': 'x',
    }
    expect((await ask(parley(), checkMail('alice', plain))).status).toBe(200)
  })

  const addressed: [host: string, status: number][] = [
    ['localhost', 200],
    ['LOCALHOST:8765', 200],
    ['127.0.0.1:1', 200],
    ['[::1]:8765', 200],
    ['parley.example', 401],
    ['Other.Example:443', 401],
  ]
  for (const [host, status] of addressed)
    verifies('all.credentials.proxied', `answers ${status} to a stranger who asks for ${host}`, async () => {
      expect((await ask(parley(), checkMail('alice', { Host: host }))).status).toBe(status)
      expect((await ask(parley(), withHeader({ path: '/metrics' }, 'Host', host))).status).toBe(status)
      expect((await ask(parley(), checkMail('alice', { Host: host, ...bearer }))).status).toBe(200)
    })

  verifies('all.credentials.wrong', 'answers 401 to wrong ones even from this machine', async () => {
    expect((await ask(parley(), checkMail('alice', { Authorization: 'Bearer guess' }))).status).toBe(401)
    expect((await ask(parley(), checkMail('alice', { 'X-API-Key': 'guess' }))).status).toBe(401)
  })

  const hosts: [host: string, status: number][] = [
    ['localhost', 200],
    ['LOCALHOST:8765', 200],
    ['127.0.0.1:1', 200],
    ['[::1]:8765', 200],
    ['parley.example', 200],
    ['other.example:443', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example', 403],
    ['evil.example#localhost', 403],
    ['user@evil.example', 403],
    ['203.0.113.9', 403],
  ]
  for (const [host, status] of hosts)
    verifies('all.http.foreign', `answers ${status} to the Host ${JSON.stringify(host)}`, async () => {
      for (const request of [checkMail('alice', bearer), { path: '/health/liveness' }])
        expect(await ask(parley(), withHeader(request, 'Host', host))).toMatchObject({ status })
    })

  const origins: [host: string, origin: string, status: number][] = [
    ['127.0.0.1:8765', 'http://127.0.0.1:8765', 200],
    ['127.0.0.1:8765', 'http://localhost:8765', 200],
    ['LocalHost:8765', 'HTTP://[::1]:8765', 200],
    ['[::1]:8765', 'http://127.0.0.1:8765', 200],
    ['127.0.0.1', 'http://localhost', 200],
    ['127.0.0.1:80', 'http://localhost', 200],
    ['127.0.0.1', 'http://localhost:80', 200],
    ['localhost:443', 'https://localhost', 200],
    ['localhost:80', 'https://localhost', 403],
    ['localhost', 'http://localhost:443', 403],
    ['127.0.0.1:8765', 'http://127.0.0.1:3000', 403],
    ['127.0.0.1:8765', 'http://localhost:3000', 403],
    ['127.0.0.1:8765', 'http://localhost', 403],
    ['127.0.0.1', 'http://localhost:8765', 403],
    ['127.0.0.1:8765', 'https://parley.example', 403],
    ['127.0.0.1:8765', 'http://parley.example:8765', 403],
    ['127.0.0.1:8765', 'null', 403],
    ['127.0.0.1:8765', '', 403],
    ['127.0.0.1:8765', 'file://', 403],
    ['127.0.0.1:8765', 'localhost:8765', 403],
    ['127.0.0.1:8765', 'http://localhost:8765@evil.example', 403],
    ['127.0.0.1:8765', 'http://evil.example#localhost:8765', 403],
    ['127.0.0.1:8765', 'http://localhost.evil.example:8765', 403],
    ['127.0.0.1:8765', 'http://localhost:8765, http://evil.example', 403],
    ['127.0.0.1:8765', 'https://pages.example:8443', 200],
    ['127.0.0.1:8765', 'https://Other-Pages.example', 200],
    ['127.0.0.1:8765', 'https://pages.example', 403],
    ['127.0.0.1:8765', 'http://pages.example:8443', 403],
    ['127.0.0.1:8765', 'chrome-extension://abcdef', 200],
    ['127.0.0.1:8765', 'chrome-extension://another', 403],
    ['parley.example', 'https://parley.example', 200],
    ['Parley.Example:8443', 'https://PARLEY.example:8443', 200],
    ['parley.example', 'https://parley.example:8443', 403],
    ['parley.example', 'https://other.example', 403],
  ]
  for (const [host, origin, status] of origins)
    verifies(
      ['all.http.foreign', 'all.http.same-origin'],
      `answers ${status} to a page of ${JSON.stringify(origin)} that calls ${host}`,
      async () => {
        const answer = await ask(parley(), checkMail('alice', { Host: host, Origin: origin, ...bearer }))
        expect(answer.status).toBe(status)
        if (status === 403) expect(codeOf(answer)).toBe('FORBIDDEN')
      },
    )

  verifies('all.http.one-host', 'answers 400 to two Host headers, alike or not', async () => {
    for (const second of ['127.0.0.1', 'evil.example']) {
      const socket = await openSocket(parley())
      socket.write(`GET /health/liveness HTTP/1.1\r\nHost: 127.0.0.1\r\nhOST: ${second}\r\nConnection: close\r\n\r\n`)
      await once(socket, 'close')
      expect(socket.received()).toMatch(/^HTTP\/1.1 400 /)
    }
  })

  verifies('all.http.foreign', 'answers 403 to a foreign Host before it looks at anything else', async () => {
    const foreign = { Host: 'evil.example', Authorization: 'Bearer guess' }
    expect((await ask(parley(), checkMail('bad%20name', foreign))).status).toBe(403)
    expect((await ask(parley(), { path: '/nothing', headers: foreign })).status).toBe(403)
  })

  const names = {
    'a space': 'bad%20name',
    'a hyphen first': '-x',
    'an underscore first': '_x',
    'a dot': 'a.b',
    'a slash': 'a%2Fb',
    'a letter of another script': '%C3%A4',
    'a line break': 'a%0A',
    'U+0000': 'a%00',
    nothing: '',
    '101 characters': 'a'.repeat(101),
  }
  for (const [what, name] of Object.entries(names))
    verifies('all.http.agent-name', `answers 400 to an agent name with ${what}`, async () => {
      const request = checkMail(name)
      for (const asked of [request, { path: request.path }, { path: request.path, method: 'DELETE' }]) {
        const answer = await ask(parley(), asked)
        expect(answer.status).toBe(400)
        expect(JSON.parse(answer.text)).toMatchObject({
          jsonrpc: '2.0',
          error: { code: -32602, data: { code: 'INVALID_ARGUMENT' } },
        })
      }
    })

  verifies('all.http.agent-name', 'answers 400 to an escape that is none, and takes 100 characters', async () => {
    expect((await ask(parley(), checkMail('%zz'))).status).toBe(400)
    expect((await ask(parley(), checkMail('a'.repeat(100)))).status).toBe(200)
  })
})

describe('A server without a token', () => {
  verifies('all.credentials.wrong', 'accepts no token, the empty one least of all', async () => {
    const parley = await serveHere()
    for (const given of [
      bearer,
      { Authorization: 'Bearer' },
      { Authorization: 'Bearer undefined' },
      { 'X-API-Key': '' },
    ])
      expect((await ask(parley, checkMail('alice', given))).status).toBe(401)
    expect((await ask(parley, checkMail('alice'))).status).toBe(200)
  })
})

describe('Behind a proxy', () => {
  const guess = async (parley: { port: number }, client: string) =>
    (await ask(parley, checkMail('alice', { Authorization: 'Bearer wrong', 'X-Forwarded-For': client }))).status

  verifies(
    'all.http.proxies',
    'that is trusted each client has its own limit of wrong keys, and no right more',
    async () => {
      const env = { HTTP_BEARER_TOKEN: token, HTTP_WRONG_KEYS_PER_MINUTE: '2', HTTP_TRUSTED_PROXIES: '127.0.0.0/8' }
      const parley = await serveHere({ env })
      const seen = []
      for (const client of ['203.0.113.7', '203.0.113.7', '203.0.113.7', '203.0.113.8'])
        seen.push(await guess(parley, client))
      expect(seen).toEqual([401, 401, 429, 401])
      // One that says it passes on a caller of this machine is no such caller.
      expect((await ask(parley, checkMail('alice', { 'X-Forwarded-For': '127.0.0.1' }))).status).toBe(401)
    },
  )

  verifies('all.http.proxies', 'that is not trusted all clients are the proxy, whatever they write', async () => {
    const parley = await serveHere({ env: { HTTP_BEARER_TOKEN: token, HTTP_WRONG_KEYS_PER_MINUTE: '2' } })
    const seen = []
    for (const client of ['203.0.113.1', '203.0.113.2', '203.0.113.3']) seen.push(await guess(parley, client))
    expect(seen).toEqual([401, 401, 429])
  })

  verifies('post.keys.operator', 'its token opens nothing once its client guessed too often', async () => {
    const env = { HTTP_BEARER_TOKEN: token, HTTP_WRONG_KEYS_PER_MINUTE: '2', HTTP_TRUSTED_PROXIES: '127.0.0.0/8' }
    const parley = await serveHere({ env })
    const { name, key } = await register(parley, 'alice')
    const from = async (client: string, secret: string) => {
      const headers = { 'X-Forwarded-For': client, Authorization: `Bearer ${secret}` }
      const answer = await ask(parley, checkMail(name, headers))
      return [answer.status, answer.headers['retry-after'] === undefined]
    }
    expect(await from('203.0.113.7', token)).toEqual([200, true])
    for (const client of ['203.0.113.7', '203.0.113.7']) await guess(parley, client)
    expect(await from('203.0.113.7', token)).toEqual([429, false])
    expect(await from('203.0.113.7', key)).toEqual([200, true])
    expect(await from('203.0.113.8', token)).toEqual([200, true])
  })
})

const withHeader = (request: { path: string; headers?: Record<string, string> }, name: string, value: string) => ({
  ...request,
  headers: { ...request.headers, [name]: value },
})
