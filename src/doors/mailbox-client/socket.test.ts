import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { TestClock } from '../../../test/support/clock.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { createIds } from '../../base/ids.ts'
import { Backoff } from './backoff.ts'
import { Socket } from './socket.ts'

const ids = createIds(new TestClock())

async function listen() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function connect(url: string) {
  const clock = new TestClock()
  const events: unknown[] = []
  let tell = () => {}
  const state = { opened: 0 }
  const opened = () => {
    state.opened++
    tell()
  }
  const socket = new Socket({
    ...{ url, key: 'amb_1', clock, ids, log: pino({ level: 'silent' }), opened },
    event: (event) => {
      events.push(event)
      tell()
    },
  })
  onTestFinished(() => socket.close())
  const until = async (ready: () => boolean) => {
    while (!ready()) await new Promise<void>((resolve) => (tell = resolve))
  }
  return { socket, clock, events, state, until }
}

verifies('client.socket.reconnect', 'The pauses grow to half a minute, and begin anew once it got through', () => {
  const backoff = new Backoff(ids)
  const pauses = () => Array.from({ length: 8 }, () => backoff.next())
  for (let run = 0; run < 20; run++) {
    for (const [index, ms] of pauses().entries()) {
      const most = Math.min(30_000, 1000 * 2 ** index)
      expect(ms).toBeLessThanOrEqual(most)
      expect(ms).toBeGreaterThan(most * 0.8 - 1)
    }
    backoff.reset()
  }
  // By chance, and not all alike.
  expect(new Set(Array.from({ length: 20 }, () => new Backoff(ids).next())).size).toBeGreaterThan(1)
})

verifies(
  ['client.socket.secret', 'client.socket.reconnect'],
  'It comes back by itself, with its key in a header',
  async () => {
    const { server, url } = await listen()
    const { clock, state, until } = connect(url)
    const first = (await once(server, 'connection')) as [WebSocket, IncomingMessage]
    expect(first[1].headers['x-api-key']).toBe('amb_1')
    expect(first[1].url).toBe('/ws')
    await until(() => state.opened === 1)
    const pending = clock.pending
    first[0].close(1012)
    while (clock.pending !== pending || server.clients.size > 0) await new Promise(setImmediate)
    clock.advance(1000)
    await until(() => state.opened === 2)
  },
)

verifies('client.socket.heartbeat', 'It pings, answers pings, and gives up a server that is silent', async () => {
  const { server, url } = await listen()
  const { clock, state, until, events } = connect(url)
  const [peer] = (await once(server, 'connection')) as [WebSocket]
  await until(() => state.opened === 1)
  const said = async () => String(((await once(peer, 'message')) as [Buffer])[0])
  peer.send('{"type":"ping"}')
  expect(await said()).toBe('{"type":"pong"}')
  const heard = said()
  clock.advance(25_000)
  expect(await heard).toBe('{"type":"ping"}')
  peer.send('{"type":"pong"}')
  peer.send('no JSON')
  peer.send('{"type":"new_message"}')
  await until(() => events.length === 1)
  expect(events).toEqual([{ type: 'new_message' }])
  const closed = once(peer, 'close')
  for (let beat = 0; beat < 3; beat++) clock.advance(25_000)
  await closed
})
