/** The post door as it describes itself: OpenAPI and the page, and whether what it does is what they say. */
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { postRoutes } from '../../../src/doors/post/door.ts'
import { serveHere, shareServer } from '../../support/parley.ts'
import { ask, type Body, register } from '../../support/post.ts'
import { openSocket } from '../../support/sockets.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer({ env: { HTTP_WRONG_KEYS_PER_MINUTE: '0' } })
// Only what the rows say is looked at: nothing of them runs.
const routes = postRoutes({} as Hub)
const api = async (): Promise<Body> => (await ask(parley(), 'GET', '/openapi.json')).body

verifies('post.docs.openapi', 'Every route is described, as its table has it', async () => {
  const { openapi, info, paths, components } = await api()
  expect([openapi, typeof info.version]).toEqual(['3.1.0', 'string'])
  expect(Object.keys(components.securitySchemes)).toEqual(['apiKey', 'bearer'])
  const described = Object.entries<Body>(paths).flatMap(([path, all]) =>
    Object.keys(all).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort())
  expect(described.length).toBeGreaterThanOrEqual(11)
  for (const route of routes) {
    const operation = paths[route.path][route.method.toLowerCase()]
    expect(operation.operationId).toBe(route.name)
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([String(route.status), '401', '422', '429', '503']),
    )
    // Its examples are what it takes and answers.
    expect(route.output.strict().safeParse(route.example.answer).error).toBeUndefined()
    if (route.example.body) expect(route.input.body?.strict().safeParse(route.example.body).error).toBeUndefined()
    for (const [, name] of route.path.matchAll(/\{(\w+)\}/g))
      expect(operation.parameters).toContainEqual(expect.objectContaining({ name, in: 'path', required: true }))
  }
  expect(paths['/inbox'].get.parameters).toContainEqual(
    expect.objectContaining({ name: 'unread_only', schema: expect.objectContaining({ type: 'boolean' }) }),
  )
})

verifies('post.docs.page', 'The page shows every route, and loads nothing', async () => {
  const answer = await fetch(`${parley().url}/docs/`)
  const html = await answer.text()
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]+='/)
  expect(policy).not.toContain('unsafe')
  for (const { path, name } of routes) {
    expect(html).toContain(`<code>${path}</code>`)
    expect(html).toContain(`id="${name}"`)
  }
  expect(html).not.toMatch(/<script|\ssrc=|\son\w+=|url\(|@import|style="/i)
  expect(
    [...html.matchAll(/href="([^"]*)"/g)].map(([, to]) => to).filter((to) => !/^(#|\/openapi)/.test(to ?? '')),
  ).toEqual([])
})

test('The description needs no credentials', async () => {
  const closed = await serveHere({
    env: { HTTP_BEARER_TOKEN: 'the-operators-token', HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' },
  })
  for (const path of ['/docs', '/openapi.json']) expect((await fetch(`${closed.url}${path}`)).status).toBe(200)
  expect((await fetch(`${closed.url}/inbox`)).status).toBe(401)
})

verifies('post.keys.wrong', 'Wrong keys are 401 each, and past the limit 429', async () => {
  const limited = await serveHere({ env: { HTTP_WRONG_KEYS_PER_MINUTE: '5' } })
  const alice = await register(limited, 'alice')
  const wrong = (key: string) => ask(limited, 'GET', '/inbox', { headers: { 'X-API-Key': key } })
  const statuses: number[] = []
  for (let n = 0; n < 7; n++) statuses.push((await wrong(`amb_${String(n).repeat(64)}`)).status)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  const refused = await wrong('nonsense')
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await alice.inbox()).status).toBe(200)
  expect((await ask(limited, 'GET', '/inbox')).status).toBe(401)
  await expect(openSocket(limited, `/ws?api_key=${'x'.repeat(68)}`)).rejects.toThrow('429')
  await openSocket(limited, `/ws?api_key=${alice.key}`)
  // A key that comes as the first message is no way around it.
  const late = await openSocket(limited, '/ws')
  late.say({ type: 'auth', api_key: 'x'.repeat(68) })
  expect(await late.closed).toMatchObject({ code: 1013 })
})

verifies(
  'post.keys.wrong',
  'Without a limit 10,000 are 401 each',
  async () => {
    expect(await wrongKeysAt(parley(), 10_000)).toEqual({ 401: 10_000 })
  },
  60_000,
)

/** So many wrong keys on one connection, and how often each status was the answer. */
async function wrongKeysAt({ url }: { url: string }, count: number): Promise<Record<string, number>> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  const keys = Array.from({ length: count }, (_, n) => `amb_${n.toString(16).padStart(64, '0')}`)
  socket.write(keys.map((key) => `GET /inbox HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n\r\n`).join(''))
  const statuses: Record<string, number> = {}
  let [answered, text] = [0, '']
  for await (const bytes of socket) {
    const lines = `${text}${bytes}`.split('\r\n')
    text = lines.pop() ?? ''
    for (const [, status = ''] of lines.flatMap((line) => [...line.matchAll(/HTTP\/1\.1 (\d+)/g)])) {
      statuses[status] = (statuses[status] ?? 0) + 1
      answered++
    }
    if (answered === count) break
  }
  return statuses
}
