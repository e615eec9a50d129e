/** Serving below a path: every answer stays below it, whether the proxy passes the path on or takes it off. */
import { once } from 'node:events'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { banner } from '../../src/app/banner.ts'
import { reachOf } from '../../src/app/public-url.ts'
import { pageBelow, withoutBase } from '../../src/doors/http/base-path.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { parleyCommand } from '../support/cli.ts'
import { plainMail } from '../support/mail.ts'
import { serveHere } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const base = '/team/parley'
const token = 'operator-token-operator-token'

verifies('serve.base.path', 'takes its own path off a request, and no other', () => {
  expect(withoutBase('/team/parley/mail?q=1', base)).toBe('/mail?q=1')
  expect(withoutBase('/team/parley', base)).toBe('/')
  expect(withoutBase('/team/parley?x', base)).toBe('/?x')
  expect(withoutBase('/team/parleys/mail', base)).toBe('/team/parleys/mail')
  expect(withoutBase('/mail', base)).toBe('/mail')
  expect(pageBelow('<html lang="en"><a href="/mail"><a href="//other">', base)).toBe(
    `<html data-base="${base}" lang="en"><a href="${base}/mail"><a href="//other">`,
  )
})

verifies('serve.base.path', 'every door, page, asset, redirect, cookie and URL is below it', async () => {
  const env = { HTTP_BASE_PATH: `${base}/`, HTTP_BEARER_TOKEN: token }
  const server = await serveHere({ env })
  const origin = new URL(server.url).origin
  expect(server.url).toBe(`${origin}${base}`)
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers: { accept: 'text/html', ...init.headers } })

  // The proxy may pass the path on, or take it off.
  for (const path of [`${base}/health/readiness`, '/health/readiness']) expect((await ask(path)).status, path).toBe(200)
  expect((await ask('/team/health/readiness')).status).toBe(404)
  for (const path of [base, `${base}/`, '/']) {
    const answer = await ask(path)
    expect([answer.status, answer.headers.get('location')], path).toEqual([303, `${base}/mail`])
  }

  // A login at the form that the page shows.
  const page = await ask(`${base}/mail/login`)
  const markup = await page.text()
  expect(markup).toContain(`data-base="${base}"`)
  const csrf = /name="_csrf" value="([^"]+)"/.exec(markup)?.[1] ?? ''
  const action = /action="([^"]*login)"/.exec(markup)?.[1] ?? ''
  expect(action).toBe(`${base}/mail/login`)
  const visitor = page.headers.getSetCookie()
  const login = await ask(action, {
    method: 'POST',
    headers: { cookie: visitor.map((one) => one.split(';')[0]).join('; ') },
    body: new URLSearchParams({ _csrf: csrf, token, next: '/mail/projects' }),
  })
  expect([login.status, login.headers.get('location')]).toEqual([303, `${base}/mail/projects`])
  const cookies = [...visitor, ...login.headers.getSetCookie()]
  for (const cookie of cookies) expect(cookie).toContain(`Path=${base}/mail;`)
  const headers = { cookie: cookies.map((one) => one.split(';')[0]).join('; ') }

  // Every path in the pages leads on below it, and is there.
  const seen = new Set<string>()
  for (const path of [
    '/mail',
    '/mail/projects',
    '/mail/attention',
    '/mail/commons',
    '/mail/invitations',
    '/mail/search',
  ]) {
    const shown = await (await ask(`${base}${path}`, { headers })).text()
    const paths = [...shown.matchAll(/\s(?:href|src|action|data-events|data-up)="(\/[^"]*)"/g)].map(
      ([, one = '']) => one,
    )
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((one) => !one.startsWith(`${base}/`))).toEqual([])
    for (const one of paths) if (/\/assets\//.test(one)) seen.add(one.split('#', 1)[0] ?? '')
  }
  for (const asset of seen) expect((await ask(asset)).status, asset).toBe(200)
  const events = await ask(`${base}/mail/events`, { headers: { ...headers, accept: 'text/event-stream' } })
  expect(events.headers.get('content-type')).toMatch(/event-stream/)
  await events.body?.cancel()
  const jump = await ask(`${base}/mail/jump?q=needs`, { headers: { ...headers, accept: 'application/json' } })
  const { places } = (await jump.json()) as { places: { href: string }[] }
  expect(places.map(({ href }) => href.startsWith(`${base}/mail`))).not.toContain(false)

  // The doors of agents.
  const auth = { authorization: `Bearer ${token}` }
  const call = (path: string) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    })
  for (const door of ['/mcp', '/agents/ann/mcp', '/hub/mcp?agent=ann', '/bus/mcp?agent=ann'])
    expect((await call(`${base}${door}`)).status, door).toBe(200)
  expect(await (await ask(`${base}/openapi.json`)).json()).toMatchObject({ servers: [{ url: base }] })
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${base}/ws`)
  const [event] = await Promise.race([once(socket, 'open').then(() => ['open']), once(socket, 'error')])
  expect(event).toBe('open')
  socket.terminate()

  // People and programs of this machine are told it.
  const config = loadConfig({ STORAGE_ROOT: server.storage, ...env, HTTP_PORT: '8765' })
  expect(
    banner({
      ...server,
      version: '1',
      mailPath: '/mcp',
      storage: '',
      keyNeeded: true,
      unguarded: false,
      nameless: false,
    }),
  ).toContain(`${server.url}/mail`)
  expect(reachOf({ ...config, STORAGE_ROOT: '/nowhere' }).url).toBe(`http://127.0.0.1:8765${base}`)
  const status = await parleyCommand(server, ['status', '--json'], { env })
  expect(status.stdout + status.stderr).not.toContain('INTERNAL')
  expect(plainMail(server)).toBeDefined()
  await server.stop()
})

verifies('serve.base.path', 'and a public URL that says otherwise is a fault', () => {
  const faulty = (env: Record<string, string>) => () => loadConfig({ STORAGE_ROOT: '/tmp/parley', ...env })
  expect(faulty({ HTTP_BASE_PATH: base, HTTP_PUBLIC_URL: 'https://hub.example/other' })).toThrow(/must end with/)
  expect(faulty({ HTTP_BASE_PATH: base, HTTP_PUBLIC_URL: `https://hub.example${base}` })).not.toThrow()
  expect(faulty({ HTTP_BASE_PATH: '/mail' })).toThrow(/HTTP_BASE_PATH/)
  expect(faulty({ HTTP_BASE_PATH: '/parley', HTTP_PATH: '/parley/mcp' })).toThrow(/HTTP_PATH/)
})
