/** The WebSocket of the post door as time passes, as processes come and go, and as keys end. */
import Fastify from 'fastify'
import { describe, expect, onTestFinished } from 'vitest'
import { local, operator } from '../../../src/core/access/callers.ts'
import { callerOfKey } from '../../../src/core/access/keys.ts'
import { createKey, revokeKeys, rotateKey } from '../../../src/core/agents/keys.ts'
import { registerOwned } from '../../../src/core/agents/register-with-key.ts'
import { createClientAddress } from '../../../src/doors/http/client-address.ts'
import { mountSockets } from '../../../src/doors/post/sockets/mount.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { openTestHub } from '../../support/hub.ts'
import { serveHere, startParley, temporaryFolder } from '../../support/parley.ts'
import { agentWith, connected } from '../../support/post.ts'
import { openSocket, socketOf } from '../../support/sockets.ts'
import { verifies } from '../../support/verifies.ts'

eachEngine('A socket of the post door', (open) => {
  /** Real sockets, and a clock that the test turns. */
  const begin = async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const app = Fastify()
    app.decorate('clientAddress', createClientAddress([]))
    const options = { guard: () => true, callerOfKey: (key: string) => callerOfKey(hub, key) }
    mountSockets(app, hub, { ...options, pingMs: 30_000, timeoutMs: 60_000 })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const { key, name } = await registerOwned(hub, local, { project: 'commons', name: 'alice' })
    const end = async () => {
      await app.close()
      await hub.close()
    }
    return { clock, hub, app, url, key, name, end }
  }

  verifies('post.socket.deadline', 'that brings no key is closed after five seconds', async () => {
    const { clock, url, key, end } = await begin()
    const [mute, quick] = [await openSocket({ url }, '/ws'), await openSocket({ url }, '/ws')]
    clock.advance(4000)
    quick.say({ type: 'auth', api_key: key })
    expect(await quick.next()).toEqual({ type: 'auth_ok' })
    clock.advance(1000)
    expect(await mute.closed).toMatchObject({ code: 4000 })
    quick.say({ type: 'ping' })
    expect(await quick.next()).toEqual({ type: 'pong' })
    await end()
  })

  verifies('post.socket.alive', 'is pinged when it is silent, and closed if it stays so', async () => {
    const { clock, url, key, end } = await begin()
    const [mute, alive] = [
      await openSocket({ url }, `/ws?api_key=${key}`, { autoPong: false }),
      await openSocket({ url }, `/ws?api_key=${key}`, { autoPong: false }),
    ]
    const pinged = new Promise((resolve) => alive.socket.once('ping', resolve))
    for (let n = 0; n < 4; n++) clock.advance(7500)
    await pinged
    // A pong counts, and so does anything else that the client says.
    alive.say({ type: 'ping' })
    expect(await alive.next()).toEqual({ type: 'pong' })
    for (let n = 0; n < 4; n++) clock.advance(7500)
    expect(await mute.closed).toMatchObject({ code: 4002 })
    expect(alive.socket.readyState).toBe(alive.socket.OPEN)
    await end()
  })

  verifies('post.socket.revoked', 'is closed when its key ends, and stays when another comes', async () => {
    const { hub, url, key, name, end } = await begin()
    const acting = { caller: operator, project: 'commons', name }
    const second = await createKey(hub, acting)
    const [first, other] = [await socketOf({ url }, { key }), await socketOf({ url }, second)]
    await revokeKeys(hub, acting, key.slice(0, 8))
    expect(await first.closed).toMatchObject({ code: 4001 })
    other.say({ type: 'ping' })
    expect(await other.next()).toEqual({ type: 'pong' })
    const third = await rotateKey(hub, acting)
    expect(await other.closed).toMatchObject({ code: 4001 })
    await socketOf({ url }, third)
    await end()
  })

  verifies('post.socket.anywhere', 'hears of what another process commits', async () => {
    const { url } = await open()
    const options = { storage: await temporaryFolder(), env: { DATABASE_URL: url } }
    const here = await serveHere(options)
    onTestFinished(() => here.stop())
    const there = await startParley(options)
    const [alice, bob] = await connected(here)
    const [atAlice, atBob] = [await socketOf(there, alice), await socketOf(here, bob)]
    const elsewhere = (agent: typeof alice, server: { url: string }) => agentWith(server, agent)
    await elsewhere(alice, here).send(bob, 'Across', 'one')
    expect(await atBob.next()).toMatchObject({ content: 'one' })
    await elsewhere(bob, here).send(alice, 'Across', 'two')
    expect(await atAlice.next()).toMatchObject({ content: 'two' })
    await elsewhere(alice, there).send(bob, 'Across', 'three')
    expect(await atBob.next()).toMatchObject({ content: 'three' })
    await here.stop()
    expect(await there.end()).toBe(0)
  })
})

describe('A server with sockets', () => {
  verifies(['post.socket.stop', 'post.socket.upgrades'], 'says good-bye, and never logs a key', async () => {
    const parley = await startParley({ env: { LOG_LEVEL: 'trace', HTTP_REQUEST_LOG_ENABLED: 'true' } })
    const [alice, bob] = await connected(parley)
    const sockets = [await socketOf(parley, alice), await socketOf(parley, bob), await openSocket(parley, '/ws')]
    await fetch(`${parley.url}/ws?api_key=${alice.key}`)
    const deaf = await socketOf(parley, bob)
    deaf.socket.pause()
    const began = performance.now()
    expect(await parley.end()).toBe(0)
    expect(performance.now() - began).toBeLessThan(4500)
    for (const { closed } of sockets.slice(0, 2)) expect(await closed).toMatchObject({ code: 1012 })
    const { stdout, stderr } = parley.output
    expect(stdout + stderr).not.toContain(alice.key.slice(8))
    expect(stderr).toContain('/ws')
  })
})
