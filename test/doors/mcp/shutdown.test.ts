/** How a server stops: waiting calls get their empty result, streams end politely, nothing is left. */
import { once } from 'node:events'
import { connect as openSocket } from 'node:net'
import { expect, test } from 'vitest'
import { TestClock } from '../../support/clock.ts'
import { call, connect, http, openSession, openStream, rpc, useFixture } from './use.ts'

test('a waiting call ends with its empty result, which is written', async () => {
  const { url, world, close } = await useFixture()
  const waiting = http(url, { body: call('wait') })
  await world.until(() => world.waiting.length === 1)
  const closed = close()
  expect((await waiting).json.result.structuredContent).toEqual({ ended: 'stopping' })
  await closed
  expect(world.waiting[0]?.signal.aborted).toBe(false)
})

test('the reason of the signal says that the server stops', async () => {
  const { url, world, close } = await useFixture()
  const waiting = http(url, { body: call('wait') })
  await world.until(() => world.waiting.length === 1)
  await Promise.all([close(), waiting])
  expect(world.waiting[0]?.stopping.reason).toMatchObject({ code: 'SHUTTING_DOWN' })
})

test('a listening client is answered, not cut off', async () => {
  const { url, world, close } = await useFixture()
  const { client } = await connect(url, '2026-07-28')
  const subscription = await client.listen({ resourceSubscriptions: ['test://watched'] })
  await close()
  expect(await subscription.closed).toBe('graceful')
  expect(world.watched).toEqual([])
})

test('the streams of sessions end and nothing is watched any more', async () => {
  const { url, world, close } = await useFixture()
  const token = await openSession(url)
  await http(url, { headers: { 'mcp-session-id': token }, body: rpc('resources/subscribe', { uri: 'test://watched' }) })
  const stream = await openStream(url, token)
  expect(world.watched).toEqual(['test://watched'])
  await Promise.all([close(), stream.ended()])
  expect(world.watched).toEqual([])
})

test('a call that does not end in time is given up', async () => {
  const clock = new TestClock()
  const { url, world, engine, close } = await useFixture({ clock, graceMs: 1000 })
  const stubborn = http(url, { body: call('steer', { act: 'waiting', at: '99' }) })
  const waiting = http(url, { body: call('wait') })
  await world.until(() => world.waiting.length === 1)
  const closed = engine.close()
  expect((await waiting).status).toBe(200)
  clock.advance(1000)
  await closed
  expect(await stubborn).toMatchObject({ status: 202, text: '' })
  await close()
})

test('stopping twice is stopping once, and leaves no timer', async () => {
  const clock = new TestClock()
  const { engine, close } = await useFixture({ clock })
  await Promise.all([engine.close(), engine.close(), close()])
  expect(clock.pending).toBe(0)
})

test('a connection that was opened and never used does not keep the server', async () => {
  const { port, close } = await useFixture()
  const socket = openSocket(port, '127.0.0.1')
  await once(socket, 'connect')
  const gone = once(socket, 'close')
  await Promise.all([close(), gone])
})
