/** Many routes at once, and two nodes: each message is announced once, and none is lost. */
import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { HubError } from '../../src/base/errors.ts'
import { local } from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { claimMessage, markReadCalled } from '../../src/core/mail/claims.ts'
import { take } from '../../src/core/mail/take.ts'
import { send } from '../../src/core/messages/send.ts'
import { announce, awaitMail } from '../../src/core/presence/announce.ts'
import { claimForBridge } from '../../src/core/presence/bridging.ts'
import { TestClock } from '../support/clock.ts'
import { eachEngine } from '../support/engines.ts'
import { as, now, openTestHub } from '../support/hub.ts'
import { type Later, mailbox, serveHere, waitingCalls } from '../support/parley.ts'
import { ask } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'

const bob = as('bob')
const messages = 1000
const write = (hub: Hub) => send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'hello' })

/** A refusal to one of several who claim is no failure. */
async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof HubError && ['conflict', 'not_found'].includes(error.kind)) return undefined
    throw error
  }
}

eachEngine('Routes', (open) => {
  verifies('waking.routes.race', 'of two nodes', async () => {
    const database = await open()
    const hubs = [
      await openTestHub(await database.connect(), { clock: systemClock }),
      await openTestHub(await database.connect(), { clock: systemClock }),
    ] as const
    const [here, there] = hubs
    await ensureAgent(here, local, { project: 'commons', name: 'bob' })
    const stop = new AbortController()
    const told: number[] = []
    const bridged: string[] = []
    const taken: string[] = []
    const route = { via: 'claude' }
    const hook = async () => {
      const found = await announce(here, bob, { ...route, session: 'turn' })
      told.push(...(found?.messages ?? []).map(({ id }) => id))
      await found?.confirm()
    }
    const waiter = async () => {
      const found = await awaitMail(there, bob, { ...route, session: 'idle', waitMs: 20, signals: [stop.signal] })
      if (typeof found !== 'object') return
      told.push(...found.messages.map(({ id }) => id))
      await found.confirm()
    }
    /** Its socket tells it of each message. */
    const arrived: string[] = []
    const bridge = async () => {
      const uid = arrived.pop()
      const claim = uid === undefined ? undefined : claimForBridge(there, bob, { uid, client: 'b', via: 'openclaw' })
      if (uid === undefined || claim === undefined || (await orNothing(claim)) === undefined) return
      bridged.push(uid)
      await markReadCalled(there, bob, uid)
    }
    const check = async () => {
      const found = await take(here, bob, { ...now, waitMs: 20, signals: [stop.signal] })
      if (found !== undefined) taken.push(found.mail.clientId)
    }
    const loops = (
      [
        [hook, 30],
        [waiter, 30],
        [bridge, 1],
        [check, 40],
      ] as const
    ).map(async ([work, turns]) => {
      while (!stop.signal.aborted) {
        await work()
        // Each gets its share: check_mail joins the transaction of the send, and a pointer takes fifty at once.
        for (let turn = 0; turn < turns; turn++) await setImmediate()
      }
    })
    const uids = new Map<number, string>()
    for (let sent = 0; sent < messages; ) {
      const batch = Array.from({ length: 20 }, async (_, n) => {
        const { messageId, uid } = await write(n % 2 === 0 ? here : there)
        uids.set(messageId, uid)
        arrived.push(uid)
      })
      await Promise.all(batch)
      sent += batch.length
    }
    const announced = () => [...told.map((id) => uids.get(id) ?? ''), ...bridged]
    await expect.poll(() => new Set([...announced(), ...taken]).size, { timeout: 30_000 }).toBe(messages)
    stop.abort()
    await Promise.all(loops)
    expect(new Set(announced()).size).toBe(announced().length)
    expect(new Set(taken).size).toBe(taken.length)
    for (const each of [told, bridged, taken]) expect(each.length).toBeGreaterThan(0)
    for (const hub of hubs) await hub.close()
  })

  verifies('waking.bridge.claim', 'and a claim that lapses leaves it to the next route', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const turn = { via: 'claude', session: 's' }
    const claim = (uid: string, client = 'b') => claimForBridge(hub, bob, { uid, client, via: 'openclaw' })
    const first = await write(hub)
    await claim(first.uid)
    await claim(first.uid)
    expect(await announce(hub, bob, turn)).toBeUndefined()
    await expect(claim(first.uid, 'another')).rejects.toMatchObject({ code: 'MESSAGE_CLAIMED' })
    clock.advance(120_000)
    const pointer = await announce(hub, bob, turn)
    expect(pointer?.messages).toMatchObject([{ id: first.messageId }])
    await expect(claim(first.uid)).rejects.toMatchObject({ code: 'MESSAGE_CLAIMED', message: /another session/ })
    // A client that fetches for its model is no bridge: the model asks because it was told.
    await claimMessage(hub, bob, { uid: first.uid })
    const second = await write(hub)
    for (const _ of [1, 2, 3, 4, 5]) {
      await claim(second.uid, 'dies')
      clock.advance(120_000)
    }
    await claim(second.uid)
    await markReadCalled(hub, bob, second.uid)
    expect(await announce(hub, bob, turn)).toBeUndefined()
    await hub.close()
  })
})

eachEngine('Two nodes', (open) => {
  verifies('waking.nodes.waiter', 'the pointer is there, and the turn that confirms it at the other', async () => {
    const { url } = await open()
    const ends: Parameters<Later>[0][] = []
    const env = { DATABASE_URL: url, SECRET_KEY: 'one key for both of the nodes' }
    const [a, b] = [
      await serveHere({ env, later: (work) => ends.push(work) }),
      await serveHere({ env, later: (work) => ends.push(work) }),
    ]
    await mailbox(a, 'bob').check()
    const waiter = ask(a, 'POST', '/hooks/wait?agent=bob&session=s&client=claude&seconds=45')
    await expect.poll(() => waitingCalls(a), { timeout: 10_000 }).toBe(1)
    const reach = async (at = b): Promise<unknown> => {
      const params = { name: 'send_to_agent', arguments: { name: 'bob', msg: 'hello', msg_id: 'once' } }
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return (await ask(at, 'POST', '/agents/ann/mcp', { body })).body.result.structuredContent.reach
    }
    await reach()
    const { status, body } = await waiter
    expect([status, body]).toMatchObject([200, { unread: 1, messages: [{ from: 'ann' }] }])
    const again = ask(a, 'POST', '/hooks/wait?agent=bob&session=s&client=claude&seconds=45')
    await expect.poll(() => reach(), { timeout: 10_000 }).toMatchObject({ state: 'wakeable', via: 'claude' })
    // The turn is heard at B, and holds the waiter at A until it ends.
    const hook = (event: string, payload: object) =>
      ask(b, 'POST', `/hooks/claude/${event}?agent=bob`, { body: { session_id: 's', ...payload } })
    await hook('Stop', {})
    await hook('UserPromptSubmit', { prompt: body.text })
    for (const at of [a, b])
      await expect.poll(() => reach(at), { timeout: 10_000 }).toMatchObject({ state: 'next_turn' })
    await mailbox(b, 'ann').send('bob', 'during the turn')
    await hook('Stop', {})
    expect((await again).body).toMatchObject({ messages: [{ from: 'ann' }] })
    for (const end of ends.reverse()) await end()
  })
})
