/** Followers: what wakes them, what their death costs, who works when two processes have the same one. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { catchUp, dbOf, named, nothingHidden, noting, openTx, write } from '../../../test/support/feed.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { thisProcess } from '../../base/processes.ts'
import { findChore } from '../../store/chores.ts'
import type { FeedPosition } from '../../store/feed/positions.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { jobLeaseMs, takeJobLease } from '../hub/job-leases.ts'
import { send } from '../messages/send.ts'
import { keepOutside, type OutsideProjection, stepOutside } from './outside-projections.ts'
import { keepProjection, type Projection, stepProjection } from './projections.ts'

/** A follower looks after this without a wake-up, and far sooner with one. */
const anyway = 60_000
const woken = anyway / 3

eachEngine('A follower', (open, dialect) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const hub = async () => openTestHub(await database.connect(), { clock })
    return { clock, hubs: [await hub(), await hub()] as const }
  }

  /** Changes that wake nobody but followers. */
  const change = (hub: Hub, name: string) => ensureAgent(hub, local, { project: 'commons', name })

  /** Turns the clock in small steps until it is as expected; returns how far it was turned. */
  const turnUntil = async (clock: TestClock, ask: () => unknown, expected: unknown): Promise<number> => {
    const from = clock.now()
    await expect
      .poll(
        () => {
          clock.advance(100)
          return ask()
        },
        { interval: 5, timeout: 10_000 },
      )
      .toEqual(expected)
    return clock.now() - from
  }

  verifies(
    'feed.follower.woken',
    'is woken by its own process, also by changes that wake nobody else, and sees those of another within a minute',
    async () => {
      const { clock, hubs } = await start()
      const [here, there] = hubs
      const { follower, noted } = await noting(dbOf(here))
      onTestFinished(keepProjection(here, follower))
      await turnUntil(clock, noted, ['rebuilt'])
      await change(here, 'ann')
      await nothingHidden(here)
      expect(await turnUntil(clock, async () => (await noted()).length, 2)).toBeLessThan(woken)
      const announce = vi.spyOn(dbOf(there), 'announce')
      await change(there, 'bob')
      await nothingHidden(there)
      clock.advance(anyway)
      expect(await turnUntil(clock, async () => (await noted()).length, 3)).toBeLessThan(woken)
      expect(announce).not.toHaveBeenCalled()
      await send(there, as('bob'), { to: [{ name: 'ann' }], body: 'hello' })
      expect(announce).toHaveBeenCalledOnce()
      await nothingHidden(there)
      expect(await turnUntil(clock, async () => (await noted()).length, 4)).toBeLessThan(woken)
    },
  )

  if (dialect === 'postgres')
    verifies(
      'feed.follower.woken',
      'comes to see what an open transaction hid, though its end wakes nobody',
      async () => {
        const { clock, hubs } = await start()
        const [here] = hubs
        const { follower, noted } = await noting(dbOf(here))
        onTestFinished(keepProjection(here, follower))
        await turnUntil(clock, noted, ['rebuilt'])
        const older = await openTx(dbOf(here))
        await write(older.tx, 'older', 1)
        await change(here, 'ann')
        await turnUntil(clock, () => clock.pending, 1)
        expect(await noted()).toEqual(['rebuilt'])
        await older.rollback()
        await nothingHidden(here)
        expect(await turnUntil(clock, async () => (await noted()).length, 2)).toBeLessThan(woken)
      },
    )

  verifies(
    'feed.follower.watermark',
    'whose hand-over is cut off has written nothing, and is handed the same again',
    async () => {
      const { hubs } = await start()
      const [hub] = hubs
      const { follower, noted } = await noting(dbOf(hub))
      await catchUp(hub, follower)
      await change(hub, 'ann')
      const dying: Projection = {
        ...follower,
        async take(tx, changes) {
          await follower.take(tx, changes)
          throw new Error('killed')
        },
      }
      await expect(async () => {
        for (;;) await stepProjection(hub, dying)
      }).rejects.toThrow('killed')
      expect(await noted()).toEqual(['rebuilt'])
      await catchUp(hub, follower)
      await catchUp(hub, follower)
      expect((await noted()).length).toBe(2)
    },
  )

  verifies('feed.follower.one-process', 'does not wait for a process of this machine that was killed', async () => {
    const { hubs } = await start()
    const [hub] = hubs
    const signal = new AbortController().signal
    const turnOf = (holder: string, run: () => Promise<void> = async () => {}) =>
      takeJobLease(hub, { name: 'work', holder, everyMs: 0, signal }, run)
    const dead = `${thisProcess().replace(/\/.*/, '')}/4194304/1/x`
    for (const [holder, taken] of [
      [dead, true],
      [`${thisProcess()}/x`, false],
      ['elsewhere/1/1/x', false],
    ] as const) {
      const held = Promise.withResolvers<void>()
      const holding = turnOf(holder, async () => held.promise)
      await expect.poll(() => findChore(dbOf(hub), 'work').then((row) => row?.holder)).toBe(holder)
      expect(await turnOf(`${thisProcess()}/y`)).toBe(taken)
      held.resolve()
      await holding
    }
  })

  verifies(
    ['feed.follower.one-process', 'feed.follower.watermark'],
    'of two processes at the same page, one waits, and takes over when the other dies',
    async () => {
      const { hubs } = await start()
      const [one, two] = hubs
      const { follower, noted } = await noting(dbOf(one))
      await catchUp(one, follower)
      await change(one, 'ann')
      const [reached, death] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const dying: Projection = {
        ...follower,
        async take(tx, changes) {
          await follower.take(tx, changes)
          reached.resolve()
          await death.promise
        },
      }
      const died = expect(async () => {
        for (;;) await stepProjection(one, dying)
      }).rejects.toThrow('killed')
      await reached.promise
      const heir = catchUp(two, follower)
      death.reject(new Error('killed'))
      await died
      await heir
      expect((await noted()).length).toBe(2)
    },
  )

  /** An archive in the memory of a test: what it was handed, and its own watermark. */
  const archive = () => {
    let watermark: FeedPosition | undefined
    const got: string[] = []
    const follower: OutsideProjection = {
      name: 'archive',
      watermark: async () => watermark,
      async take(changes, to) {
        got.push(...changes.map(named))
        watermark = to
      },
      async rebuild(to) {
        got.push('rebuilt')
        watermark = to
      },
    }
    return { got, follower }
  }

  verifies(
    ['feed.follower.watermark', 'feed.follower.one-process'],
    'outside the database, one at a time works; what it was handed when it died is handed to the next',
    async () => {
      const { clock, hubs } = await start()
      const [one, two] = hubs
      const { got, follower } = archive()
      const death = Promise.withResolvers<void>()
      let inHand = 0
      const dying: OutsideProjection = {
        ...follower,
        async take(changes, to, job) {
          if (inHand > 0) return follower.take(changes, to, job)
          inHand = changes.length
          await death.promise
        },
      }
      const stopDying = keepOutside(one, dying, 'one')
      await turnUntil(clock, () => got, ['rebuilt'])
      await change(one, 'ann')
      await turnUntil(clock, () => inHand, 1)
      onTestFinished(keepOutside(two, follower, 'two'))
      // The other tries, and leaves alone what is in hand.
      clock.advance(jobLeaseMs / 2)
      await expect.poll(() => clock.pending).toBe(1)
      expect(got).toEqual(['rebuilt'])
      await turnUntil(clock, () => got.length, 2)
      // A process that was thought dead finds its lease gone.
      death.resolve()
      await change(two, 'bob')
      await turnUntil(clock, () => got.length, 3)
      await stopDying()
      expect(new Set(got).size).toBe(3)
    },
  )

  verifies(
    'feed.follower.gap',
    'that comes from another database, or from before this one was restored, begins anew',
    async () => {
      const { clock, hubs } = await start()
      const [hub] = hubs
      const { got, follower } = archive()
      const watermark = async () => (got.length === 0 ? { tx: 2 ** 50, id: 2 ** 50 } : follower.watermark())
      onTestFinished(keepOutside(hub, { ...follower, watermark }))
      await turnUntil(clock, () => got, ['rebuilt'])
    },
  )

  verifies(
    'feed.follower.gap',
    'outside, of which the database has not heard, begins anew, also if it dies meanwhile',
    async () => {
      const { hubs } = await start()
      const [hub] = hubs
      const { got, follower } = archive()
      const step = (follower: OutsideProjection) =>
        stepOutside(hub, follower, { holder: 'one', signal: new AbortController().signal })
      await change(hub, 'ann')
      await change(hub, 'bob')
      // By chance it is a place that this feed has too.
      const watermark = async () => (got.length === 0 ? { tx: 0, id: 1 } : follower.watermark())
      const dying = { ...follower, watermark, rebuild: () => Promise.reject(new Error('killed')) }
      await expect(step(dying)).rejects.toThrow('killed')
      expect(got).toEqual([])
      await step({ ...follower, watermark })
      expect(got[0]).toBe('rebuilt')
    },
  )

  test('that failed tries again after 50 ms, then after twice as long', async () => {
    const { clock, hubs } = await start()
    const [hub] = hubs
    let tried = 0
    const failing: Projection = {
      name: 'failing',
      take: async () => {},
      rebuild() {
        tried++
        return Promise.reject(new Error('no'))
      },
    }
    onTestFinished(keepProjection(hub, failing))
    for (const [index, ms] of [0, 50, 100].entries()) {
      clock.advance(ms - 1)
      expect(tried).toBe(index)
      clock.advance(1)
      await expect.poll(() => [tried, clock.pending]).toEqual([index + 1, 1])
    }
  })
})
