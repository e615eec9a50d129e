/** Presence is known in every process, and costs nothing while a wait lasts. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { findLastChange } from '../../store/feed/changes.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { followArrivals } from '../mail/arrivals.ts'
import { take } from '../mail/take.ts'
import { addWaiter, hasWaiter, keepPresence, whoWaits } from './presence.ts'

const make = (hub: Hub, name: string) => ensureAgent(hub, local, { project: 'commons', name })

const waiter = (agentId: number, since: number, displaced = () => {}) => ({
  agentId,
  session: 'window 1',
  via: 'claude',
  since,
  displaced,
})

/** Waits until cancelled. */
function waitForMail(hub: Hub, name: string) {
  const gone = new AbortController()
  const taken = take(hub, as(name), { loanMs: 0, waitMs: 50_000, signals: [gone.signal] })
  return async () => {
    gone.abort()
    await taken
  }
}

const deaf = { arrived: () => {}, asked: () => {}, approved: () => {}, keysChanged: () => {} }

eachEngine('Presence', (open) => {
  verifies('waking.presence.seen', 'a call, a stream and a waiter at one node are seen at the other', async () => {
    const database = await open()
    const [here, there] = [
      await openTestHub(await database.connect(), { clock: systemClock }),
      await openTestHub(await database.connect(), { clock: systemClock }),
    ]
    const ends = [keepPresence(here, { listens: false }), keepPresence(there, { listens: true })]
    const [ann, bob, cleo] = [await make(here, 'ann'), await make(here, 'bob'), await make(here, 'cleo')]
    const leave = [
      waitForMail(here, 'ann'),
      await followArrivals(here, as('bob'), deaf),
      addWaiter(here, waiter(cleo.id, systemClock.now())),
    ]
    const seen = async (hub: Hub) => {
      const present = await whoWaits(hub)
      return [ann, bob, cleo].map(({ id }) => present.of(id))
    }
    const calls = { waiting: true, via: undefined }
    const all = [calls, calls, { waiting: false, via: 'claude' }]
    await expect.poll(() => seen(here)).toEqual(all)
    await expect.poll(() => seen(there)).toEqual(all)
    for (const end of leave) await end()
    expect(await seen(here)).toEqual([undefined, undefined, undefined])
    await expect.poll(() => seen(there)).toEqual([undefined, undefined, undefined])
    for (const end of ends) await end()
    for (const hub of [here, there]) await hub.close()
  })

  verifies('waking.presence.batched', 'a wait is one row, and a loop that waits again at once is none', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    await make(hub, 'ann')
    const end = keepPresence(hub, { listens: false })
    const changes = () => findLastChange(reader(hub))
    const before = await changes()
    const first = waitForMail(hub, 'ann')
    await expect.poll(() => clock.pending).toBe(3)
    clock.advance(99)
    expect(await changes()).toBe(before)
    clock.advance(1)
    await expect.poll(changes).toBe(before + 1)
    await first()
    const second = waitForMail(hub, 'ann')
    await expect.poll(() => clock.pending).toBe(3)
    clock.advance(10_000)
    expect(await changes()).toBe(before + 1)
    await second()
    clock.advance(100)
    await expect.poll(changes).toBe(before + 2)
    await end()
    await hub.close()
  })

  verifies('waking.presence.dead', 'the waiters of a node that is silent for a minute count no more', async () => {
    const database = await open()
    const clock = new TestClock()
    const dead = await openTestHub(await database.connect(), { clock })
    const hub = await openTestHub(await database.connect(), { clock })
    const ann = await make(dead, 'ann')
    keepPresence(dead, { listens: false })
    addWaiter(dead, waiter(ann.id, clock.now()))
    clock.advance(100)
    const standing = async () => (await whoWaits(hub)).of(ann.id)
    await expect.poll(standing).toEqual({ waiting: false, via: 'claude' })
    await dead.close()
    clock.set(clock.now() + 61_000)
    expect(await standing()).toBeUndefined()
    await hub.close()
  })

  verifies('waking.waiter.one', 'a newer waiter of a session ends the older, here and at another node', async () => {
    const database = await open()
    const [here, there] = [
      await openTestHub(await database.connect(), { clock: systemClock }),
      await openTestHub(await database.connect(), { clock: systemClock }),
    ]
    const ends = [keepPresence(here, { listens: true }), keepPresence(there, { listens: true })]
    const ann = await make(here, 'ann')
    const displaced: string[] = []
    const note = (name: string) => () => void displaced.push(name)
    const now = systemClock.now()
    addWaiter(here, waiter(ann.id, now, note('first')))
    addWaiter(here, waiter(ann.id, now + 1, note('second')))
    expect(displaced).toEqual(['first'])
    addWaiter(there, waiter(ann.id, now + 2, note('third')))
    await expect.poll(() => displaced).toEqual(['first', 'second'])
    // One that asks again is no newer one, wherever it asks.
    addWaiter(there, waiter(ann.id, now + 1, note('second, there')))
    await expect.poll(() => hasWaiter(here, { agentId: ann.id, session: waiter(ann.id, now).session })).toBe(true)
    addWaiter(here, waiter(ann.id, now + 1, note('second, here')))
    expect(displaced).toEqual(['first', 'second', 'second, there', 'second, here'])
    for (const end of ends) await end()
    const db = await database.connect()
    expect(await db.all(sql`SELECT * FROM presence`)).toEqual([])
    for (const hub of [here, there]) await hub.close()
  })
})
