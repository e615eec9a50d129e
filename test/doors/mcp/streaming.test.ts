/** Answers that become streams: progress, keep-alives, listening. */
import { expect, test } from 'vitest'
import { TestClock } from '../../support/clock.ts'
import { verifies } from '../../support/verifies.ts'
import { both, call, http, rpc, useFixture } from './use.ts'

const events = (text: string) =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))

verifies('all.wait.progress', 'progress comes every five seconds and turns the answer into a stream', async () => {
  const clock = new TestClock()
  const { url, world } = await useFixture({ clock })
  const answer = http(url, { headers: { accept: both }, body: call('wait', {}, { progressToken: 'p' }) })
  await world.until(() => world.waiting.length === 1)
  clock.advance(4999)
  clock.advance(1)
  clock.advance(5000)
  world.release()
  const { status, headers, text } = await answer
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/event-stream' })
  expect(events(text)).toMatchObject([
    { method: 'notifications/progress', params: { progressToken: 'p', progress: 5 } },
    { method: 'notifications/progress', params: { progressToken: 'p', progress: 10 } },
    { id: 1, result: { structuredContent: { ended: 'released' } } },
  ])
})

test('a call that ends in time is answered with plain JSON, and leaves no timer', async () => {
  const clock = new TestClock()
  const { url } = await useFixture({ clock })
  const before = clock.pending
  const { headers } = await http(url, {
    headers: { accept: both },
    body: call('echo', { text: 'x' }, { progressToken: 0 }),
  })
  expect(headers['content-type']).toBe('application/json')
  expect(clock.pending).toBe(before)
})

test.each([
  ['reads no events', { accept: 'application/json' }, { progressToken: 1 }],
  ['says nothing of what it reads', {}, { progressToken: 1 }],
  ['asks for no progress', { accept: both }, undefined],
])('a client that %s gets no stream', async (_, headers, meta) => {
  const clock = new TestClock()
  const { url, world } = await useFixture({ clock })
  const answer = http(url, { headers, body: call('wait', {}, meta) })
  await world.until(() => world.waiting.length === 1)
  clock.advance(5000)
  world.release()
  expect((await answer).headers['content-type']).toBe('application/json')
})

test('open streams are kept alive by a comment every fifteen seconds, from one timer', async () => {
  const clock = new TestClock()
  const { url, world } = await useFixture({ clock })
  const before = clock.pending
  const waits = [1, 2].map(() => http(url, { headers: { accept: both }, body: call('wait', {}, { progressToken: 1 }) }))
  await world.until(() => world.waiting.length === 2)
  clock.advance(5000)
  expect(clock.pending).toBe(before + 3)
  clock.advance(5000)
  clock.advance(5000)
  clock.advance(5000)
  world.release()
  for (const { text } of await Promise.all(waits)) expect(text.match(/^: keepalive$/gm)).toHaveLength(1)
})

test('listening with nothing to listen to is acknowledged and over', async () => {
  const { url } = await useFixture()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { accept: both, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  const body = rpc('subscriptions/listen', { notifications: { toolsListChanged: true }, _meta }, 'sub')
  const { text } = await http(url, { headers, body })
  expect(events(text)).toMatchObject([
    {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } },
    },
    { id: 'sub', result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } } },
  ])
})

test.each([
  ['no filter', {}],
  ['a filter that is none', { notifications: { resourceSubscriptions: 5 } }],
  [
    'too much',
    { notifications: { resourceSubscriptions: Array.from({ length: 1001 }, (_, index) => `test://${index}`) } },
  ],
])('listening with %s is an error', async (_, params) => {
  const { url } = await useFixture()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { accept: both, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  const { json } = await http(url, { headers, body: rpc('subscriptions/listen', { ...params, _meta }) })
  expect(json.error.code).toBe(-32602)
})
