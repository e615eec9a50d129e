/** A session that goes away without a word: how long its streams and calls keep its name on the bus. */
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { keepNames } from '../../../src/core/access/holders.ts'
import { busDoor } from '../../../src/doors/bus/door.ts'
import { busPath, busScope } from '../../../src/doors/bus/holder.ts'
import { createApp, listen } from '../../../src/doors/http/app.ts'
import { mountDoor } from '../../../src/doors/mcp/http/serve.ts'
import { createEngine } from '../../../src/doors/mcp/protocol/engine.ts'
import { httpPeer } from '../../support/bus.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { sessionEvents } from '../../support/events.ts'
import { openTestHub } from '../../support/hub.ts'
import { verifies } from '../../support/verifies.ts'
import { openSession } from '../../support/wire.ts'
import { engineOptions } from '../mcp/engine.ts'

eachEngine('A session on the bus', (open) => {
  verifies('bus.name.silent', 'keeps its name while a stream or a call is open, and for a minute after', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock, waitMs: 600_000 })
    const base = engineOptions({ clock })
    let kept: Promise<void> = Promise.resolve()
    const present = (sessions: readonly { nonce: string }[]) => {
      kept = keepNames(
        hub,
        sessions.map(({ nonce }) => nonce),
      )
    }
    const engine = createEngine({ ...base, sessions: { ...base.sessions, present } })
    const app = createApp({
      ...base,
      host: '127.0.0.1',
      allowedHosts: [],
      allowedOrigins: [],
      bearerToken: undefined,
      allowLocalUnauthenticated: true,
      callerOfKey: async () => undefined,
      ready: async () => {},
      refresh: async () => {},
    })
    mountDoor(app, { engine, path: busPath, door: busDoor(hub, '1.2.3'), scope: busScope })
    await listen(app, { host: '127.0.0.1', port: 0 })
    try {
      const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
      const pass = async (seconds: number) => {
        for (let left = seconds; left > 0; left -= 5) {
          clock.advance(Math.min(5, left) * 1000)
          await kept
        }
      }
      const token = await openSession(`${url}${busPath}`)
      const [one, other] = [
        httpPeer({ url }, '', { 'Mcp-Session-Id': token }),
        httpPeer({ url }, '', { 'Mcp-Session-Id': await openSession(`${url}${busPath}`) }),
      ]
      const { reclaim_token, topic_id } = await one.call<{ reclaim_token: string; topic_id: string }>('topic_join', {
        agent_name: 'heron',
        topic_id: (await one.call<{ topic_id: string }>('topic_create', { name: 'reeds' })).topic_id,
      })
      const take = (more: object = {}) =>
        other.call('topic_join', { agent_name: 'heron', topic_id, ...more }).then(
          () => 'taken',
          ({ code }: { code: string }) => code,
        )
      // A stream of its session, for ten minutes.
      const stream = await sessionEvents(`${url}${busPath}`, token)
      await pass(600)
      expect(await take()).toBe('AGENT_NAME_IN_USE')
      stream.end()
      await pass(50)
      expect(await take()).toBe('AGENT_NAME_IN_USE')
      // Any call of its session, though it says nothing on the topic.
      await one.call('ping')
      await pass(50)
      expect(await take()).toBe('AGENT_NAME_IN_USE')
      // A call that waits for long.
      const stop = new AbortController()
      const waiting = one.sync(topic_id, { wait_seconds: 600 }, stop.signal).catch(() => 'gone')
      await expect.poll(async () => (await other.call<{ count: number }>('topic_presence', { topic_id })).count).toBe(1)
      await pass(300)
      expect(await take()).toBe('AGENT_NAME_IN_USE')
      stop.abort()
      expect(await waiting).toBe('gone')
      await expect.poll(() => engine.exchanges.size).toBe(0)
      await pass(55)
      expect(await take()).toBe('AGENT_NAME_IN_USE')
      await pass(15)
      expect(await take()).toBe('taken')
      await expect(one.sync(topic_id)).rejects.toMatchObject({ code: 'AGENT_NOT_JOINED' })
      // The token that the first join returned belongs to whoever was gone; the new one still wins.
      const next = await other.call<{ reclaim_token: string }>('topic_join', { agent_name: 'heron', topic_id })
      expect(next.reclaim_token).not.toBe(reclaim_token)
      await one.call('topic_join', { agent_name: 'heron', topic_id, reclaim_token: next.reclaim_token })
      expect(await one.sync(topic_id, { wait_seconds: 0 })).toMatchObject({ agent_name: 'heron' })
    } finally {
      await app.close()
      await hub.close()
    }
  })
})
