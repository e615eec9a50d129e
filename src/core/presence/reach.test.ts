/** A receipt tells the truth about its recipients, and no more than their sender may know. */
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { setContactPolicy } from '../contacts/links.ts'
import type { Hub } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { type Draft, send } from '../messages/send.ts'
import { addWaiter } from './presence.ts'
import { inWords, reaching } from './reach.ts'

const write = (hub: Hub, from: string, to: string, more: Partial<Draft> = {}) =>
  reaching(hub, local, () => send(hub, as(from), { to: [{ name: to }], body: 'hello', ...more }))

const reachOf = async (hub: Hub, to: string, more: Partial<Draft> = {}) =>
  (await write(hub, 'ann', to, more)).deliveries[0]?.reach

eachEngine('Reach', (open) => {
  verifies('waking.reach.told', 'of agents that wait, can be woken, are active, away, or were never here', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const bob = await ensureAgent(hub, local, { project: 'commons', name: 'bob' })
    const nobody = { state: 'never', text: 'has never been here' }
    expect(await reachOf(hub, 'cleo')).toEqual(nobody)
    expect(await reachOf(hub, 'cleo')).toEqual({ ...nobody, behind: 1, text: `${nobody.text}; 1 unread before yours` })

    const waiting = take(hub, as('bob'), { ...now, waitMs: 50_000 })
    await expect.poll(() => clock.pending).toBe(2)
    expect(await reachOf(hub, 'bob')).toEqual({ state: 'waiting', seenSeconds: 0, text: 'waiting now' })
    await waiting
    clock.advance(3000)
    expect(await reachOf(hub, 'bob')).toEqual({ state: 'active', seenSeconds: 3, text: 'seen 3 s ago' })
    await take(hub, as('bob'), now)
    const leave = addWaiter(hub, {
      agentId: bob.id,
      session: 's',
      via: 'claude',
      since: clock.now(),
      displaced: () => {},
    })
    clock.advance(7_200_000)
    expect(await reachOf(hub, 'bob')).toEqual({
      state: 'wakeable',
      seenSeconds: 7200,
      via: 'claude',
      text: 'idle, will be woken (claude)',
    })
    leave()
    clock.advance(1)
    expect(await reachOf(hub, 'bob')).toEqual({
      state: 'away',
      seenSeconds: 7200,
      behind: 1,
      text: 'last seen 2 h ago; no wake adapter; 1 unread before yours',
    })
    await hub.close()
  })

  verifies('waking.reach.told', 'of an agent whose waiter the message itself has ended, as it was before', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const bob = await ensureAgent(hub, local, { project: 'commons', name: 'bob' })
    const leave = addWaiter(hub, {
      agentId: bob.id,
      session: 's',
      via: 'claude',
      since: clock.now(),
      displaced: () => {},
    })
    const sent = await reaching(hub, local, async () => {
      const receipt = await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'hello' })
      leave()
      return receipt
    })
    expect(sent.deliveries[0]?.reach).toMatchObject({ state: 'wakeable', via: 'claude' })
    await hub.close()
  })

  verifies('waking.reach.behind', 'in a batch, and for a retry', async () => {
    const hub = await openTestHub(await (await open()).connect())
    await write(hub, 'ann', 'bob', { clientId: 'first' })
    const sent = await Promise.all(Array.from({ length: 10 }, () => reachOf(hub, 'bob')))
    expect(sent.map((reach) => reach?.behind).toSorted((a = 0, b = 0) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ])
    expect((await reachOf(hub, 'bob', { clientId: 'first' }))?.behind).toBeUndefined()
    const last = await write(hub, 'ann', 'bob', { clientId: 'last' })
    expect(last.deliveries[0]?.reach.behind).toBe(11)
    const retry = await write(hub, 'ann', 'bob', { clientId: 'last' })
    expect([retry.duplicate, retry.deliveries[0]?.reach.behind]).toEqual([true, 11])
    await hub.close()
  })

  verifies('waking.reach.behind', 'with the pace of the reader, where it has read some lately', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    for (let n = 0; n < 9; n++) await write(hub, 'ann', 'bob')
    const behind = async () => (await reachOf(hub, 'bob'))?.text.split('; ').at(-1)
    expect(await behind()).toBe('9 unread before yours')
    for (let n = 0; n < 4; n++) {
      clock.advance(60_000)
      await take(hub, as('bob'), now)
    }
    expect(await behind()).toBe('6 unread before yours, reads about 1 a minute')
    clock.advance(1_800_000)
    expect(await behind()).toBe('7 unread before yours, reads about 7 an hour')
    clock.advance(3_600_000)
    expect(await behind()).toBe('8 unread before yours')
    await hub.close()
  })

  verifies('waking.reach.contacts', 'a refused send is the same whether its recipient is there or not', async () => {
    const clock = new TestClock()
    const db = await (await open()).connect()
    const hub = await openTestHub(db, { clock })
    for (const name of ['ann', 'bob']) await ensureAgent(hub, local, { project: 'commons', name })
    await setContactPolicy(hub, as('bob'), 'block_all')
    const refusal = () => write(hub, 'ann', 'bob').catch((error: unknown) => error)
    const before = await refusal()
    const gone = new AbortController()
    const waiting = take(hub, as('bob'), { ...now, waitMs: 50_000, signals: [gone.signal] })
    await expect.poll(() => clock.pending).toBe(2)
    expect(await refusal()).toEqual(before)
    expect(before).toMatchObject({ code: 'CONTACT_BLOCKED' })
    gone.abort()
    await waiting
    await hub.close()
  })

  verifies('waking.crossing.told', 'mail of the thread that came before, unless it was seen', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const first = await write(hub, 'ann', 'bob', { thread: 'plan' })
    const second = await write(hub, 'bob', 'ann', { thread: 'plan', replyTo: first.messageId })
    expect(second.unreadInThread).toEqual([])
    const third = await write(hub, 'ann', 'bob', { thread: 'plan' })
    expect(third.unreadInThread).toEqual([second.messageId])
    expect((await write(hub, 'ann', 'bob', { thread: 'other' })).unreadInThread).toEqual([])
    await take(hub, as('ann'), now)
    expect((await write(hub, 'ann', 'bob', { thread: 'plan' })).unreadInThread).toEqual([])
    await hub.close()
  })

  verifies('waking.crossing.refused', 'with the ids, read or not; nothing is stored', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const { messageId: seenThrough } = await write(hub, 'ann', 'bob', { thread: 'plan' })
    const { messageId } = await write(hub, 'bob', 'ann', { thread: 'plan' })
    const late = write(hub, 'ann', 'bob', { thread: 'plan', seenThrough })
    await expect(late).rejects.toMatchObject({ code: 'CROSSED', message: expect.stringContaining(String(messageId)) })
    const again = await write(hub, 'ann', 'bob', { thread: 'plan', seenThrough: messageId })
    expect(again.seq).toBe(3)
    expect((await write(hub, 'ann', 'bob', { thread: 'new', seenThrough: messageId })).seq).toBe(1)
    await hub.close()
  })
})

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [7199, '1 h'],
  [200_000, '2 d'],
])('%i seconds are %s', (seconds, words) => {
  expect(inWords(seconds)).toBe(words)
})
