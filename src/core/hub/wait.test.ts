/** Waiting: the query is the truth, a wake-up only its occasion. */
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { HubError } from '../../base/errors.ts'
import { Unsure } from '../../db/faults.ts'
import type { SqliteDb } from '../../db/sqlite/sqlite.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { type Hub, inside } from './hub.ts'
import { wait } from './wait.ts'

/** Lets everything run that is ready to. */
const settle = async (hub: Hub, waiters: number) => {
  await expect.poll(() => hub[inside].wakes.size).toBe(waiters)
}

eachEngine('A wait', (open, dialect) => {
  const start = async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock, waitMs: 10_000 })
    return { clock, hub }
  }

  test('asks before it sleeps, and again for each wake-up, false ones too', async () => {
    const { hub } = await start()
    let asked = 0
    const answer = wait(hub, { channel: 't', ms: 5000, signals: [] }, async () => ({
      found: ++asked === 3 ? 'there' : undefined,
    }))
    await settle(hub, 1)
    expect(asked).toBe(1)
    hub[inside].wakes.wake(['other', 't'])
    await expect.poll(() => asked).toBe(2)
    hub[inside].wakes.wakeAll()
    expect(await answer).toBe('there')
    expect(hub[inside].wakes.size).toBe(0)
  })

  test('does not miss what happens while it asks', async () => {
    const { hub } = await start()
    let asked = 0
    const answer = await wait(hub, { channel: 't', ms: 5000, signals: [] }, async () => {
      if (++asked === 1) hub[inside].wakes.wake(['t'])
      return { found: asked === 2 ? 'there' : undefined }
    })
    expect(answer).toBe('there')
  })

  verifies('serve.wait.monotonic', 'ends after its time, though the time of day is set back or ahead', async () => {
    const { hub, clock } = await start()
    for (const day of [-86_400_000, 86_400_000]) {
      let ended = false
      let asked = 0
      const wish = { channel: 't', ms: 1000, signals: [] }
      const ask = async () => {
        asked++
        return {}
      }
      const answer = wait(hub, wish, ask).then(() => {
        ended = true
      })
      await settle(hub, 1)
      clock.set(clock.now() + day)
      hub[inside].wakes.wake(['t'])
      await expect.poll(() => asked).toBe(2)
      clock.advance(999)
      await new Promise(setImmediate)
      expect(ended).toBe(false)
      clock.advance(1)
      await answer
    }
  })

  verifies('serve.wait.database', 'outlasts a database that is away, and does nothing twice', async () => {
    const { hub, clock } = await start()
    const away = new HubError('DB_BUSY', 'The database cannot be reached.')
    const begin = (answers: readonly (Error | string | undefined)[]) => {
      let asked = 0
      const answer = wait(hub, { channel: 't', ms: 5000, signals: [] }, async () => {
        const found = answers[asked++] ?? undefined
        if (found instanceof Error) throw found
        return { found }
      })
      return { answer, asked: () => asked }
    }
    const lucky = begin([undefined, away, away, 'there'])
    await settle(hub, 1)
    hub[inside].wakes.wake(['t'])
    await expect.poll(lucky.asked).toBe(2)
    for (const count of [3, 4]) {
      await expect.poll(() => clock.pending).toBe(1)
      clock.advance(500)
      await expect.poll(lucky.asked).toBe(count)
    }
    expect(await lucky.answer).toBe('there')
    // A call that begins while the database is away fails at once; one that waited fails at its deadline.
    await expect(begin([away]).answer).rejects.toBe(away)
    const late = begin([undefined, ...Array(20).fill(away)])
    const told = expect(late.answer).rejects.toBe(away)
    await settle(hub, 1)
    hub[inside].wakes.wake(['t'])
    for (let asked = 2; asked <= 11; asked++) {
      await expect.poll(late.asked).toBe(asked)
      await expect.poll(() => clock.pending).toBe(1)
      clock.advance(500)
    }
    await told
    // Nobody knows whether the take was saved: it is not tried again.
    const unsure = new Unsure(new Error('lost'))
    const taking = begin([undefined, unsure])
    const failed = expect(taking.answer).rejects.toBe(unsure)
    await settle(hub, 1)
    hub[inside].wakes.wake(['t'])
    await failed
  })

  test('ends at its deadline, at the limit of the hub, and at once when it is told to', async () => {
    const { hub, clock } = await start()
    const never = async () => ({})
    const short = wait(hub, { channel: 't', ms: 1000, signals: [] }, never)
    const long = wait(hub, { channel: 't', ms: 99_000, signals: [] }, never)
    const stop = new AbortController()
    const stopped = wait(hub, { channel: 't', ms: 99_000, signals: [new AbortController().signal, stop.signal] }, never)
    await settle(hub, 3)
    clock.advance(1000)
    expect(await short).toBeUndefined()
    stop.abort()
    expect(await stopped).toBeUndefined()
    clock.advance(9000)
    expect(await long).toBeUndefined()
    expect(hub[inside].wakes.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  verifies(
    ['mailbox.wait.wakes', 'all.engines.alike'],
    'for mail ends when it is sent, by the hub’s own clock when a loan ends',
    async () => {
      const { hub, clock } = await start()
      const first = take(hub, as('bob'), { ...now, waitMs: 5000 })
      await settle(hub, 1)
      await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'one' })
      expect((await first)?.mail.body).toBe('one')

      await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'two' })
      await take(hub, as('bob'), { ...now, loanMs: 3000 })
      const second = take(hub, as('bob'), { ...now, waitMs: 5000 })
      // The end of the wait, that of the loan, and the note of who was active.
      await expect.poll(() => clock.pending).toBe(3)
      clock.advance(3000)
      expect((await second)?.mail.body).toBe('two')
    },
  )

  /** Waits for what `things` holds, and counts how often somebody asks. */
  const compete = (hub: Hub, things: string[], signals: readonly AbortSignal[] = []) => {
    const crowd = { asked: 0, found: [] as string[] }
    const ask = async () => {
      crowd.asked++
      await Promise.resolve()
      return { found: things.shift() }
    }
    const answers = Array.from({ length: 1000 }, async () => {
      const thing = await wait(hub, { channel: 't', ms: 5000, competing: true, signals }, ask)
      if (thing !== undefined) crowd.found.push(thing)
    })
    return { crowd, answers }
  }

  verifies(
    'serve.wait.crowd',
    'of a thousand for what one gets is woken for one, and none is left behind',
    async () => {
      const { hub } = await start()
      const { wakes } = hub[inside]
      const things: string[] = []
      const { crowd } = compete(hub, things)
      await settle(hub, 1000)
      await new Promise(setImmediate)
      expect(crowd.asked).toBe(1000)

      wakes.wake(['t'])
      await new Promise(setImmediate)
      expect(crowd.asked).toBe(1001)

      // The one that gets it lets two others look: there might be more.
      things.push('one')
      wakes.wake(['t'])
      await settle(hub, 999)
      await new Promise(setImmediate)
      expect(crowd).toEqual({ asked: 1004, found: ['one'] })

      // One wake-up for all that a commit brings.
      things.push(...Array.from({ length: 100 }, (_, n) => `number ${n}`))
      wakes.wakeAll()
      await settle(hub, 899)
      await new Promise(setImmediate)
      expect(crowd.found).toHaveLength(101)
      expect(crowd.asked).toBeLessThanOrEqual(1004 + 1 + 2 * 100)
    },
  )

  verifies('serve.wait.crowd', 'for what one gets passes its wake-up on when its client is gone', async () => {
    const { hub } = await start()
    const stop = new AbortController()
    const things: string[] = []
    const gone = wait(hub, { channel: 't', ms: 5000, competing: true, signals: [stop.signal] }, async () => ({}))
    const stays = wait(hub, { channel: 't', ms: 5000, competing: true, signals: [] }, async () => ({
      found: things.shift(),
    }))
    await settle(hub, 2)
    await new Promise(setImmediate)
    things.push('one')
    hub[inside].wakes.wake(['t'])
    stop.abort()
    expect(await gone).toBeUndefined()
    expect(await stays).toBe('one')
  })

  verifies(
    'serve.wait.crowd',
    'of many for a loan to end is one that looks by the clock, and passes it on',
    async () => {
      const { hub, clock } = await start()
      const at = clock.now() + 1000
      const things: string[] = []
      let asked = 0
      const answers = Array.from({ length: 100 }, () =>
        wait(hub, { channel: 't', ms: 5000, competing: true, signals: [] }, async () => {
          asked++
          return { found: things.shift(), again: clock.now() < at ? at : undefined }
        }),
      )
      await settle(hub, 100)
      await new Promise(setImmediate)
      expect(asked).toBe(100)
      things.push('one', 'two')
      clock.advance(1000)
      await settle(hub, 98)
      await new Promise(setImmediate)
      expect(asked).toBeLessThanOrEqual(105)
      clock.advance(4000)
      expect((await Promise.all(answers)).filter((found) => found !== undefined).toSorted()).toEqual(['one', 'two'])
    },
  )

  verifies('serve.wait.crowd', 'of many for mail of one agent brings each message to one of them', async () => {
    const { hub } = await start()
    const stop = new AbortController()
    const takings = Array.from({ length: 50 }, () =>
      take(hub, as('bob'), { ...now, waitMs: 10_000, signals: [stop.signal] }),
    )
    await settle(hub, 50)
    const bodies = Array.from({ length: 30 }, (_, n) => `number ${n}`)
    await Promise.all(bodies.map((body) => send(hub, as('alice'), { to: [{ name: 'bob' }], body })))
    await settle(hub, 20)
    stop.abort()
    const taken = (await Promise.all(takings)).flatMap((one) => one?.mail.body ?? [])
    expect(taken.toSorted()).toEqual(bodies.toSorted())
  })

  if (dialect === 'sqlite')
    test('takes mail in the transaction that stores it, one of many waiters', async () => {
      const { hub } = await start()
      const stats = () => ({ ...(hub[inside].db as SqliteDb).stats })
      const send1 = (body: string) => send(hub, as('alice'), { to: [{ name: 'bob' }], body })
      await send1('before')
      await take(hub, as('bob'), now)
      const stop = new AbortController()
      const waiters = Array.from({ length: 5 }, () =>
        take(hub, as('bob'), { ...now, waitMs: 5000, signals: [stop.signal] }),
      )
      await settle(hub, 5)
      const { groups, units } = stats()
      await send1('one')
      expect((await Promise.race(waiters))?.mail.body).toBe('one')
      expect(stats()).toMatchObject({ groups: groups + 1, units: units + 2 })
      await send1('two')
      await send1('three')
      await settle(hub, 2)
      stop.abort()
      const taken = (await Promise.all(waiters)).map((mail) => mail?.mail.body)
      expect(taken.toSorted()).toEqual(['one', 'three', 'two', undefined, undefined])
    })

  verifies('all.wait.other-process', 'is woken by what another connection commits', async () => {
    const database = await open()
    const [here, there] = [await openTestHub(await database.connect()), await openTestHub(await database.connect())]
    for (let n = 0; n < 5; n++) {
      const mail = take(here, as('bob'), { ...now, waitMs: 50_000 })
      await settle(here, 1)
      await send(there, as('alice'), { to: [{ name: 'bob' }], body: `number ${n}` })
      expect((await mail)?.mail.body).toBe(`number ${n}`)
    }
    await there.close()
    await here.close()
  })
})
