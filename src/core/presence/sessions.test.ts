/** Sessions of clients: pushes wait for the end of a turn, and each session knows whose it is. */
import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { send } from '../messages/send.ts'
import { announce, awaitMail, noteAccepted } from './announce.ts'
import { bindSession, findHookAgent } from './binding.ts'
import { addWaiter } from './presence.ts'
import { reaching } from './reach.ts'
import { agentsOfSession, heldUntil, hookedSessions, keepSessions, noteStep } from './sessions.ts'

const bob = as('bob')
const window = { client: 'claude', session: 'window' }
const waiter = { via: 'claude', session: 'window' }
const turn = { ...waiter, reminds: true }
const make = (hub: Hub, name: string) => ensureAgent(hub, local, { project: 'commons', name })

const write = async (hub: Hub) => (await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'hello' })).messageId

const idsOf = async (pointer: ReturnType<typeof announce>) => (await pointer)?.messages.map(({ id }) => id)

/** Resolves with what was found, and tells meanwhile that nothing was. */
function waitFor(hub: Hub, waitMs = 3_600_000) {
  const state = { over: false }
  const found = awaitMail(hub, bob, { ...waiter, waitMs, signals: [] }).finally(() => {
    state.over = true
  })
  return { found, state }
}

eachEngine('Sessions', (open) => {
  verifies('waking.push.held', 'here and at another node, and a hook of the turn may tell first', async () => {
    const database = await open()
    const [here, there] = [
      await openTestHub(await database.connect(), { clock: systemClock }),
      await openTestHub(await database.connect(), { clock: systemClock }),
    ]
    const ends = [keepSessions(here), keepSessions(there)]
    const { id: agentId } = await make(here, 'bob')
    for (const hub of [here, there]) {
      await noteStep(here, bob, window, 'stop')
      await noteStep(here, bob, window, 'turn')
      await expect.poll(() => heldUntil(hub, { ...window, agentId })).toBeGreaterThan(0)
      const pushed = awaitMail(hub, bob, { ...waiter, waitMs: 20_000, signals: [] })
      const first = await write(here)
      expect(await idsOf(announce(here, bob, turn))).toEqual([first])
      const second = await write(here)
      expect(await Promise.race([pushed, setImmediate('held')])).toBe('held')
      await noteStep(here, bob, window, 'stop')
      expect(await pushed).toMatchObject({ messages: [{ id: second }] })
    }
    for (const end of ends) await end()
    for (const hub of [here, there]) await hub.close()
  })

  verifies('waking.sessions.bounded', 'whoever names sessions without an end', async () => {
    const hub = await openTestHub(await (await open()).connect(), { clock: new TestClock() })
    const { id } = await make(hub, 'bob')
    const end = keepSessions(hub)
    await bindSession(hub, bob, window)
    for (let n = 0; n < 300; n++) await noteStep(hub, bob, { client: 'claude', session: `${n}` }, 'turn')
    const sessions = (await hookedSessions(hub, [id]))(id).map(({ session }) => session)
    expect([sessions.length, sessions[0], sessions.at(-1)]).toEqual([200, '100', '299'])
    expect(await agentsOfSession(hub, window)).toMatchObject([{ agent_id: id }])
    expect((await hookedSessions(hub, [id]))(id)).toHaveLength(199)
    await end()
    await hub.close()
  })

  verifies('waking.push.bounded', 'and a session whose ends are not heard holds nothing', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    await make(hub, 'bob')
    await noteStep(hub, bob, window, 'turn')
    const first = await write(hub)
    expect(await waitFor(hub).found).toMatchObject({ messages: [{ id: first }] })
    await noteStep(hub, bob, window, 'stop')
    await noteStep(hub, bob, window, 'turn')
    const { found, state } = waitFor(hub, 40_000)
    const second = await write(hub)
    clock.advance(40_000)
    expect(await found).toBeUndefined()
    clock.advance(859_000)
    const late = waitFor(hub, 40_000)
    await expect.poll(() => clock.pending).toBe(1)
    expect([state.over, late.state.over]).toEqual([true, false])
    clock.advance(2000)
    expect(await late.found).toMatchObject({ messages: [{ id: first }, { id: second }] })
    // A long turn that is still heard of holds on.
    await noteStep(hub, bob, window, 'turn')
    clock.advance(800_000)
    await noteStep(hub, bob, window, 'tool')
    clock.advance(800_000)
    const third = await write(hub)
    expect(await waitFor(hub, 0).found).toBeUndefined()
    clock.advance(100_000)
    expect(await waitFor(hub, 0).found).toMatchObject({
      messages: expect.arrayContaining([expect.objectContaining({ id: third })]),
    })
    await hub.close()
  })

  verifies('waking.announce.exhausted', 'at the first turn after WAKE_REMIND_SECONDS, once', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const id = await write(hub)
    for (const _ of [1, 2, 3]) {
      expect(await idsOf(announce(hub, bob, waiter))).toEqual([id])
      clock.advance(30_000)
    }
    expect(await announce(hub, bob, turn)).toBeUndefined()
    clock.advance(870_000)
    expect(await announce(hub, bob, waiter)).toBeUndefined()
    expect(await idsOf(announce(hub, bob, turn))).toEqual([id])
    clock.advance(900_000)
    expect(await announce(hub, bob, turn)).toBeUndefined()
    await hub.close()
  })

  verifies('waking.announce.unheard', 'until a hook of the session, or of another one, is heard', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    await make(hub, 'bob')
    const codex = { client: 'codex', session: 'thread' }
    const queue = (session: string) => ({ via: 'codex', session })
    const again = async (session: string) => {
      const id = await write(hub)
      const accept = (turnConfirms: boolean) => noteAccepted(hub, bob, { client: 'codex', session, turnConfirms })
      expect(await idsOf(announce(hub, bob, queue(session)))).toEqual([id])
      // Its own waiter has it in hand, and it is not with the client.
      clock.advance(30_000)
      expect(await idsOf(announce(hub, bob, queue(session)))).toEqual([id])
      await accept(true)
      clock.advance(30_000)
      const found = await idsOf(announce(hub, bob, queue(session)))
      // Of a client whose turns confirm nothing it is proof enough.
      await accept(false)
      clock.advance(30_000)
      expect(await announce(hub, bob, queue(session))).toBeUndefined()
      return found !== undefined
    }
    await bindSession(hub, bob, codex)
    expect([await again('thread'), await again('unknown')]).toEqual([false, false])
    await noteStep(hub, bob, codex, 'turn')
    await noteStep(hub, bob, codex, 'stop')
    const end = keepSessions(hub)
    await expect.poll(() => clock.pending).toBeGreaterThan(0)
    clock.advance(100)
    await end()
    expect(await again('thread')).toBe(true)
    expect(await again('unknown')).toBe(true)
    await hub.close()
  })

  verifies('waking.push.held', 'not for a turn that may have ended while no server was there', async () => {
    const database = await open()
    const clock = new TestClock()
    const hub = await openTestHub(await database.connect(), { clock })
    const { id: agentId } = await make(hub, 'bob')
    const stop = keepSessions(hub)
    for (const step of ['stop', 'turn'] as const) await noteStep(hub, bob, window, step)
    const of = { ...window, agentId }
    expect(heldUntil(hub, of)).toBeGreaterThan(clock.now())
    await stop()
    await hub.close()
    clock.advance(1000)
    const restarted = await openTestHub(await database.connect(), { clock })
    const keeping = keepSessions(restarted)
    expect(await findHookAgent(restarted, local, window)).toMatchObject({ name: 'bob' })
    expect(heldUntil(restarted, of)).toBeUndefined()
    // A hook of the turn says that it still runs.
    await noteStep(restarted, bob, window, 'tool')
    expect(heldUntil(restarted, of)).toBeGreaterThan(clock.now())
    await keeping()
    await restarted.close()
  })

  verifies('waking.binding.kept', 'after a restart and at another node; the last agent counts', async () => {
    const database = await open()
    const first = await openTestHub(await database.connect(), { clock: systemClock })
    const other = await openTestHub(await database.connect(), { clock: systemClock })
    const end = keepSessions(other)
    for (const name of ['bob', 'cleo']) await make(first, name)
    const bound = (hub: Hub) => findHookAgent(hub, local, window)
    expect(await bound(other)).toBeUndefined()
    await bindSession(first, bob, window)
    expect(await bound(first)).toEqual({ name: 'bob', project: 'commons' })
    await expect.poll(() => bound(other)).toEqual({ name: 'bob', project: 'commons' })
    await bindSession(other, as('cleo'), window)
    await first.close()
    const restarted = await openTestHub(await database.connect(), { clock: systemClock })
    expect(await bound(restarted)).toEqual({ name: 'cleo', project: 'commons' })
    expect(await findHookAgent(restarted, local, { ...window, session: 'another' })).toBeUndefined()
    await end()
    for (const hub of [restarted, other]) await hub.close()
  })

  verifies('waking.reach.next-turn', 'while its session is open, with or without a waiter in a turn', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const { id } = await make(hub, 'bob')
    const reach = async () => (await reaching(hub, local, () => send(hub, as('ann'), hello))).deliveries[0]?.reach
    await noteStep(hub, bob, window, 'start')
    expect(await reach()).toMatchObject({ state: 'next_turn', via: 'claude', text: expect.stringContaining(nextTurn) })
    const leave = addWaiter(hub, { agentId: id, ...waiter, since: clock.now(), displaced: () => {} })
    expect((await reach())?.state).toBe('wakeable')
    await noteStep(hub, bob, window, 'stop')
    await noteStep(hub, bob, window, 'turn')
    expect((await reach())?.state).toBe('next_turn')
    await noteStep(hub, bob, window, 'stop')
    expect((await reach())?.state).toBe('wakeable')
    leave()
    clock.advance(1)
    expect((await reach())?.state).toBe('next_turn')
    await noteStep(hub, bob, window, 'end')
    expect((await reach())?.state).toBe('active')
    await noteStep(hub, bob, window, 'start')
    clock.advance(3_601_000)
    expect((await reach())?.state).toBe('away')
    await hub.close()
  })
})

const hello = { to: [{ name: 'bob' }], body: 'hello' }
const nextTurn = 'sees it at its next turn'
