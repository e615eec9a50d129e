/** Chores of several processes on one database. */

import sql from 'sql-template-tag'
import { expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { thisProcess } from '../../base/processes.ts'
import type { Tx } from '../../db/port.ts'
import { takeChore } from '../../store/chores.ts'
import { local } from '../access/callers.ts'
import { listHeldChores } from '../access/held-chores.ts'
import { type Chore, keepChores } from './chores.ts'
import { type Hub, inside } from './hub.ts'
import { type JobLease, jobLeaseMs } from './job-leases.ts'

const minute = 60_000

/** A gate at which a run waits until it is opened. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  return {
    open: resolve,
    reached: reached.promise,
    pass: () => {
      reached.resolve()
      return promise
    },
  }
}

eachEngine('Chores', (open) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const hub = async () => openTestHub(await database.connect(), { clock })
    return { clock, hub }
  }

  const keep = (hub: Hub, chore: Chore, holder: string) => {
    const stop = keepChores(hub, [chore], holder)
    onTestFinished(stop)
    return stop
  }

  /** Lets what a turn of the clock has begun come to its end: the next timer is set then. */
  const settle = async (clock: TestClock, timers: number) => {
    await expect.poll(() => clock.pending, { interval: 1, timeout: 10_000 }).toBe(timers)
  }

  verifies('mail.chore.one-process', 'only one of two processes does it, and once in its interval', async () => {
    const { clock, hub } = await start()
    const [one, two] = [await hub(), await hub()]
    const runs: { by: string; at: number }[] = []
    const chore = (by: string): Chore => ({
      name: 'sweep',
      everyMs: minute,
      async run() {
        runs.push({ by, at: clock.now() })
      },
    })
    keep(one, chore('one'), 'one')
    keep(two, chore('two'), 'two')
    const began = clock.now()
    // Ten intervals, in steps smaller than they are.
    for (let step = 0; step < 60; step++) {
      clock.advance(10_000)
      await settle(clock, 2)
    }
    const gaps = runs.map(({ at }, index) => at - (runs[index - 1]?.at ?? began))
    expect(runs.length).toBeGreaterThanOrEqual(9)
    expect(runs.length).toBeLessThanOrEqual(10)
    expect(gaps.slice(1).every((gap) => gap >= minute)).toBe(true)
  })

  verifies(
    'mail.chore.one-process',
    'while one does it another that is asked at the same moment does not',
    async () => {
      const { clock, hub } = await start()
      const hubs = [await hub(), await hub(), await hub()]
      const wait = gate()
      let running = 0
      for (const [index, each] of hubs.entries())
        keep(
          each,
          {
            name: 'sweep',
            everyMs: 1000,
            async run() {
              running++
              await wait.pass()
            },
          },
          `p${index}`,
        )
      clock.advance(5000)
      await wait.reached
      await settle(clock, 2)
      expect(running).toBe(1)
      const [held, ...others] = await listHeldChores(hubs[0] as Hub, local)
      expect(others).toEqual([])
      expect(held).toEqual({
        name: 'sweep',
        holder: expect.stringMatching(/^p\d$/),
        until: clock.now() + jobLeaseMs,
      })
      // Others look while it is held, and leave it.
      clock.advance(1000)
      await settle(clock, 2)
      expect(running).toBe(1)
      wait.open()
      await settle(clock, 3)
      expect(await listHeldChores(hubs[0] as Hub, local)).toEqual([])
    },
  )

  /** A queue of numbers that a chore moves to a list, a few at a time. */
  const prepareQueue = async (hub: Hub, size: number) => {
    await hub[inside].db.tx(async (tx) => {
      await tx.all(sql`CREATE TABLE queue (n INTEGER PRIMARY KEY)`)
      await tx.all(sql`CREATE TABLE taken (n INTEGER NOT NULL, holder TEXT NOT NULL)`)
      for (let n = 1; n <= size; n++) await tx.all(sql`INSERT INTO queue (n) VALUES (${n})`)
    })
  }

  const takeSome = async (tx: Tx, holder: string): Promise<number> => {
    const rows = await tx.all<{ n: number }>(sql`SELECT n FROM queue ORDER BY n LIMIT 3`)
    for (const { n } of rows) {
      await tx.all(sql`DELETE FROM queue WHERE n = ${n}`)
      await tx.all(sql`INSERT INTO taken (n, holder) VALUES (${n}, ${holder})`)
    }
    return rows.length
  }

  verifies(
    'mail.chore.taken-over',
    'what a dead process left is taken over, nothing twice and nothing missed',
    async () => {
      const { clock, hub } = await start()
      const [dying, heir] = [await hub(), await hub()]
      await prepareQueue(heir, 20)
      const emptied = (holder: string, between: (done: number) => Promise<void>): Chore => ({
        name: 'queue',
        everyMs: 1000,
        async run(_hub, job) {
          for (let done = 1; (await job.batch((tx) => takeSome(tx, holder))) > 0; done++) await between(done)
        },
      })
      const [stuck, between] = [gate(), gate()]
      // It does two batches and is heard of no more, until another is at work.
      keep(
        dying,
        emptied('dying', async (done) => {
          if (done === 2) await stuck.pass()
        }),
        'dying',
      )
      clock.advance(5000)
      await stuck.reached
      keep(
        heir,
        emptied('heir', async (done) => {
          if (done === 1) await between.pass()
        }),
        'heir',
      )
      const takenBy = (holder: string) =>
        heir[inside].db.all<{ n: number }>(sql`SELECT n FROM taken WHERE holder = ${holder} ORDER BY n`)
      clock.advance(jobLeaseMs - 2000)
      await settle(clock, 1)
      expect(await takenBy('heir')).toEqual([])
      clock.advance(4000)
      await between.reached
      // The one that was thought dead comes back and finds its lease gone.
      stuck.open()
      await settle(clock, 1)
      expect(await listHeldChores(heir, local)).toMatchObject([{ holder: 'heir' }])
      between.open()
      await settle(clock, 2)
      const all = await heir[inside].db.all<{ n: number }>(sql`SELECT n FROM taken ORDER BY n`)
      expect(all.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
      expect((await takenBy('dying')).length).toBe(6)
    },
  )

  verifies('mail.chore.taken-over', 'a process of this machine that was killed is not waited for', async () => {
    const { clock, hub } = await start()
    const heir = await hub()
    const machine = thisProcess().replace(/\/.*/, '')
    let runs = 0
    const sweep = (name: string): Chore => ({ name, everyMs: minute, run: async () => void runs++ })
    for (const [holder, expected] of [
      ['elsewhere/4194304/1/x', 0],
      [`${machine}/4194304/1/x`, 1],
    ] as const) {
      const left = { name: `left by ${holder}`, holder, now: clock.now(), holdMs: jobLeaseMs, everyMs: minute }
      await heir[inside].db.tx((tx) => takeChore(tx, left))
      const stop = keep(heir, sweep(left.name), 'heir')
      clock.advance(5000)
      await settle(clock, 1)
      expect(runs).toBe(expected)
      await stop()
    }
  })

  verifies('mail.chore.taken-over', 'a run that fails is tried again, by whoever is next', async () => {
    const { clock, hub } = await start()
    const only = await hub()
    let runs = 0
    keep(
      only,
      {
        name: 'sweep',
        everyMs: minute,
        async run(_hub, job) {
          await job.batch(async () => {
            if (++runs === 1) throw new Error('not today')
          })
        },
      },
      'only',
    )
    clock.advance(5000)
    await settle(clock, 1)
    expect(await listHeldChores(only, local)).toEqual([])
    clock.advance(minute)
    await settle(clock, 1)
    expect(runs).toBe(2)
  })

  verifies('mail.chore.stops', 'stopping waits for the batch that runs, and lets another go on at once', async () => {
    const { clock, hub } = await start()
    const [one, two] = [await hub(), await hub()]
    await prepareQueue(two, 9)
    const midway = gate()
    const stop = keep(
      one,
      {
        name: 'queue',
        everyMs: 1000,
        async run(_hub, job: JobLease) {
          for (let done = 0; (await job.batch((tx) => takeSome(tx, 'one'))) > 0; done++)
            if (done === 0) await midway.pass()
        },
      },
      'one',
    )
    clock.advance(5000)
    await midway.reached
    let stopped = false
    const stopping = stop().then(() => {
      stopped = true
    })
    expect(stopped).toBe(false)
    midway.open()
    await stopping
    expect((await two[inside].db.all(sql`SELECT n FROM taken`)).length).toBe(3)
    expect(clock.pending).toBe(0)
    keep(
      two,
      {
        name: 'queue',
        everyMs: 1000,
        async run(_hub, job: JobLease) {
          while ((await job.batch((tx) => takeSome(tx, 'two'))) > 0);
        },
      },
      'two',
    )
    clock.advance(1000)
    await settle(clock, 1)
    expect((await two[inside].db.all(sql`SELECT n FROM taken WHERE holder = 'two'`)).length).toBe(6)
  })

  test('a clock that went wrong does not stop a chore for longer than its interval', async () => {
    const { clock, hub } = await start()
    const only = await hub()
    const year = 365 * 86_400_000
    await only[inside].db.tx((tx) =>
      tx.all(sql`INSERT INTO chores (name, holder, held_until, done_at)
        VALUES ('sweep', 'gone', ${clock.now() + year}, ${clock.now() + year})`),
    )
    let runs = 0
    keep(only, { name: 'sweep', everyMs: minute, run: async () => void runs++ }, 'only')
    clock.advance(5000)
    await settle(clock, 1)
    expect(runs).toBe(1)
  })

  verifies('mail.chore.off', 'nothing is enabled, nothing runs', async () => {
    const { clock, hub } = await start()
    const stop = keepChores(await hub(), [])
    expect(clock.pending).toBe(0)
    await stop()
  })
})
