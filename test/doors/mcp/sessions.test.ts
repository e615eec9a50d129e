/** Sessions: a token that any process honours, bound to who opened it and where. */
import { expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../../src/base/ids.ts'
import { local } from '../../../src/core/access/callers.ts'
import { type Claims, createSessions } from '../../../src/doors/mcp/protocol/sessions.ts'
import { listInMemory, SessionUpdates } from '../../../src/doors/mcp/protocol/updates.ts'
import { TestClock } from '../../support/clock.ts'
import { verifies } from '../../support/verifies.ts'
import { SharedEnds } from './engine.ts'
import { both, call, connect, http, openSession, openStream, rpc, useFixture } from './use.ts'

const ping = rpc('ping')

const told = (text: string) => JSON.parse(text.split('data: ')[1] ?? '').params.uri

test('a session opens on initialize and its token is good for later calls', async () => {
  const { url } = await useFixture()
  const token = await openSession(url)
  const { json } = await http(url, { headers: { 'mcp-session-id': token }, body: call('echo', { text: 'x' }) })
  expect(json.result.structuredContent.client).toBe('tester 4.5.6')
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
  'protocol %s is spoken when asked for',
  async (protocolVersion) => {
    const { url } = await useFixture()
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    expect((await http(url, { body: rpc('initialize', params) })).json.result.protocolVersion).toBe(protocolVersion)
  },
)

test('a client that asks for a protocol nobody knows is offered the newest of its era', async () => {
  const { url } = await useFixture()
  const params = { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  expect((await http(url, { body: rpc('initialize', params) })).json.result.protocolVersion).toBe('2025-11-25')
})

test('a restarted server takes the token, a stream and a subscription without a new initialize', async () => {
  const ended = new SharedEnds()
  const before = await useFixture({ ended })
  const token = await openSession(before.url)
  await before.close()
  const after = await useFixture({ ended })
  const headers = { 'mcp-session-id': token }
  expect((await http(after.url, { headers, body: ping })).status).toBe(200)
  await http(after.url, { headers, body: rpc('resources/subscribe', { uri: 'test://watched' }) })
  const stream = await openStream(after.url, token)
  after.world.change('test://watched')
  expect(told(await stream.next())).toBe('test://watched')
})

test('an update is told to one stream of the session, and kept while there is none', async () => {
  const { url, world } = await useFixture()
  const token = await openSession(url)
  await http(url, { headers: { 'mcp-session-id': token }, body: rpc('resources/subscribe', { uri: 'test://watched' }) })
  world.change('test://watched')
  world.change('test://watched')
  const first = await openStream(url, token)
  let text = ''
  while ((text.match(/data: /g) ?? []).length < 2) text += await first.next()
  expect(text.match(/id: .*/g)?.map((id) => id.slice(id.indexOf('.')))).toEqual(['.1', '.2'])
  const second = await openStream(url, token)
  world.change('test://watched')
  expect(told(await first.next())).toBe('test://watched')
  expect(second.status).toBe(200)
})

test('a stream needs a client that reads events', async () => {
  const { url } = await useFixture()
  const headers = { 'mcp-session-id': await openSession(url), accept: 'application/json' }
  expect(await http(url, { method: 'GET', headers })).toMatchObject({ status: 406 })
})

test('a token is good at its own path only, however the name is written', async () => {
  const { url } = await useFixture()
  const headers = { 'mcp-session-id': await openSession(url) }
  expect((await http(url.replace('alice', 'ALICE'), { headers, body: ping })).status).toBe(200)
  expect((await http(url.replace('alice', 'bob'), { headers, body: ping })).status).toBe(404)
})

test('a token is good for the caller that opened it only', async () => {
  const { url } = await useFixture({ bearerToken: 'operator-token' })
  const authorization = 'Bearer operator-token'
  const token = await openSession(url, { authorization })
  expect((await http(url, { headers: { authorization, 'mcp-session-id': token }, body: ping })).status).toBe(200)
  expect((await http(url, { headers: { 'mcp-session-id': token }, body: ping })).status).toBe(404)
})

test('a forged token is not found', async () => {
  const { url } = await useFixture()
  const token = await openSession(url)
  const [body = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims
  const other = Buffer.from(JSON.stringify({ ...claims, caller: 'operator' })).toString('base64url')
  for (const forged of [
    `${other}.${signature}`,
    `${body}.${signature.slice(0, -1)}`,
    `${body}.`,
    body,
    '.',
    `${token}x`,
  ])
    expect((await http(url, { headers: { 'mcp-session-id': forged }, body: ping })).status).toBe(404)
})

test('a session ended by DELETE is gone, in every process', async () => {
  const ended = new SharedEnds()
  const here = await useFixture({ ended })
  const there = await useFixture({ ended })
  const token = await openSession(here.url)
  const headers = { 'mcp-session-id': token }
  expect((await http(there.url, { headers, body: ping })).status).toBe(200)
  const stream = await openStream(there.url, token)
  expect(await http(here.url, { method: 'DELETE', headers })).toMatchObject({ status: 200, text: '' })
  expect(ended.callers).toEqual(['local'])
  await stream.ended()
  for (const { url } of [here, there]) expect((await http(url, { headers, body: ping })).status).toBe(404)
  const later = await useFixture({ ended })
  expect((await http(later.url, { headers, body: ping })).status).toBe(404)
})

test('the official client ends its session', async () => {
  const { url } = await useFixture()
  const { transport } = await connect(url, '2025-11-25')
  const token = transport.sessionId ?? ''
  await transport.terminateSession()
  expect((await http(url, { headers: { 'mcp-session-id': token }, body: ping })).status).toBe(404)
})

test('clients of the newest era get no session and need none', async () => {
  const { url } = await useFixture()
  const { transport } = await connect(url, '2026-07-28')
  expect(transport.sessionId).toBeUndefined()
  expect((await http(url, { body: rpc('ping'), headers: { accept: both } })).headers).not.toHaveProperty(
    'mcp-session-id',
  )
})

/** Sessions alone, with a clock that the test turns. */
function lone() {
  const clock = new TestClock()
  const ended = new SharedEnds()
  const sessions = createSessions({ clock, ids: createIds(clock), secret: 's', ttlMs: 1000_000, idleMs: 1000, ended })
  onTestFinished(() => {
    sessions.close()
    expect(clock.pending).toBe(0)
  })
  const token = sessions.issue({ door: 'd', path: 'p', caller: 'local', client: { name: 'n', version: '1' } })
  return { clock, ended, sessions, token }
}

verifies('all.sessions.idle', 'what a silent session holds is freed, and made anew when it speaks again', async () => {
  const { clock, sessions, token } = lone()
  const first = await sessions.resume(token)
  let stopped = false
  const followed = listInMemory()
  await followed.add({ uri: 'test://x', since: '0' })
  const updates = new SessionUpdates({
    updates: {
      begin: async () => '0',
      place: async () => '0',
      follow: async () => () => {
        stopped = true
      },
    },
    followed,
    failed: () => {},
  })
  if (first !== undefined) first.conversation.updates = updates
  await updates.open(() => true)
  clock.advance(1000)
  expect(sessions.held(token)).toBeUndefined()
  expect(stopped).toBe(true)
  expect((await sessions.resume(token))?.claims).toEqual(first?.claims)
})

test('a session that speaks, waits or listens keeps its memory', async () => {
  const { clock, sessions, token } = lone()
  const session = await sessions.resume(token)
  clock.advance(999)
  expect(sessions.held(token)).toBe(session)
  session?.conversation.calls.set(1, { lose: () => {} })
  clock.advance(5000)
  clock.advance(5000)
  expect(sessions.held(token)).toBe(session)
})

test('a token lives as long as it was given', async () => {
  const { clock, sessions, token } = lone()
  await sessions.resume(token)
  clock.advance(999_999)
  expect(await sessions.resume(token)).toBeDefined()
  clock.advance(1)
  expect(sessions.held(token)).toBeUndefined()
  expect(await sessions.resume(token)).toBeUndefined()
})

test('a session that is ended while it is looked up is not taken up', async () => {
  const { ended, sessions, token } = lone()
  const looking = sessions.resume(token)
  const { nonce } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as Claims
  void ended.add(local, nonce, 0)
  expect(await looking).toBeUndefined()
})

test('the name of a client makes no token longer than a header may be', () => {
  const { sessions } = lone()
  const client = { name: 'n'.repeat(1_000_000), version: '1'.repeat(1_000_000) }
  expect(sessions.issue({ door: 'd', path: 'p', caller: 'local', client }).length).toBeLessThan(1000)
})

test('memory is bounded however many sessions there are', async () => {
  const { sessions, token } = lone()
  await sessions.resume(token)
  const claims = { door: 'd', path: 'p', caller: 'local', client: { name: 'n', version: '1' } }
  for (let count = 0; count < 10_000; count++) await sessions.resume(sessions.issue(claims))
  expect(sessions.held(token)).toBeUndefined()
  expect(await sessions.resume(token)).toBeDefined()
})
