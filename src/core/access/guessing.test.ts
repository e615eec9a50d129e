/** The count of wrong guesses, on both engines: at once, at several hubs on one store, after a restart, as time passes. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { asHubError, HubError } from '../../base/errors.ts'
import { itself } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { local } from './callers.ts'
import { guess } from './guessing.ts'
import { logIn } from './logins.ts'

const wrong = new HubError('UNAUTHENTICATED', 'wrong')
const tooMany = { message: 'Too many.', hint: 'Wait.' }

async function tallyOf(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const tally: Record<string, number> = {}
  for (const outcome of await Promise.allSettled(calls)) {
    const word = outcome.status === 'fulfilled' ? 'right' : asHubError(outcome.reason).code
    tally[word] = (tally[word] ?? 0) + 1
  }
  return tally
}

eachEngine('Wrong guesses', (open) => {
  const guessAt = (hub: Hub, most = 10, guesser = 'a') =>
    guess(hub, itself, { guesser, most, tooMany }, async () => ({ wrong }))

  verifies('post.code.at-once', 'of 800 at once at two hubs ten are looked at, and none after a restart', async () => {
    const database = await open()
    const clock = new TestClock()
    const hubs = [
      await openTestHub(await database.connect(), { clock }),
      await openTestHub(await database.connect(), { clock }),
    ] as const
    const calls = Array.from({ length: 800 }, (_, n) => guessAt(hubs[n % 2 === 0 ? 0 : 1]))
    expect(await tallyOf(calls)).toEqual({ UNAUTHENTICATED: 10, RATE_LIMITED: 790 })
    for (const hub of hubs) await hub.close()
    const hub = await openTestHub(await database.connect(), { clock })
    const right = guess(hub, itself, { guesser: 'a', most: 10, tooMany }, async () => ({ right: true }))
    await expect(right).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 })
    expect(await tallyOf([guessAt(hub, 10, 'b')])).toEqual({ UNAUTHENTICATED: 1 })
    await hub.close()
  })

  verifies('post.code.guesses', 'are forgotten after a minute, each in its turn', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    for (let n = 0; n < 10; n++) {
      await tallyOf([guessAt(hub)])
      clock.advance(5000)
    }
    expect(await tallyOf([guessAt(hub)])).toEqual({ RATE_LIMITED: 1 })
    clock.advance(10_000)
    expect([await tallyOf([guessAt(hub)]), await tallyOf([guessAt(hub)])]).toEqual([
      { UNAUTHENTICATED: 1 },
      { RATE_LIMITED: 1 },
    ])
    // A limit of thousands is kept too, with a row that stays small.
    expect(await tallyOf(Array.from({ length: 500 }, () => guessAt(hub, 400, 'many')))).toEqual({
      UNAUTHENTICATED: 400,
      RATE_LIMITED: 100,
    })
    clock.advance(60_000)
    expect(await tallyOf([guessAt(hub, 400, 'many')])).toEqual({ UNAUTHENTICATED: 1 })
    await hub.close()
  })

  verifies(
    'post.code.budget',
    'of as many guessers as there are addresses cost a bounded number of commits',
    async () => {
      const database = await open()
      const clock = new TestClock()
      const hub = await openTestHub(await database.connect(), { clock })
      let looked = 0
      const from = (address: string, right = false) =>
        guess(hub, itself, { guesser: `key:${address}`, most: 3, tooMany }, async () => {
          looked++
          return right ? { right: true } : { wrong }
        })
      const flood = (name: string, count: number) =>
        tallyOf(Array.from({ length: count }, (_, n) => from(`${name}${n}`)))
      expect(await flood('a', 700)).toEqual({ UNAUTHENTICATED: 500, RATE_LIMITED: 200 })
      expect(looked).toBe(500)
      clock.advance(1000)
      expect(await flood('b', 700)).toEqual({ UNAUTHENTICATED: 50, RATE_LIMITED: 650 })
      // Another kind of secret has its own.
      expect(await tallyOf([guessAt(hub, 10, 'login:a')])).toEqual({ UNAUTHENTICATED: 1 })
      // Refused guesses count: the third wrong one of this guesser is the last that is looked at.
      for (let n = 0; n < 2; n++) expect(await tallyOf([from('many')])).toEqual({ RATE_LIMITED: 1 })
      clock.advance(1000)
      expect(await tallyOf([from('many'), from('many', true)])).toEqual({ UNAUTHENTICATED: 1, RATE_LIMITED: 1 })
      await hub.close()
    },
  )

  verifies(
    ['web.login.tries', 'post.code.at-once'],
    'of 800 logins at once ten are looked at, at all hubs together',
    async () => {
      const database = await open()
      const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
      const login = (n: number, token = false) =>
        logIn(hubs[n % 2 === 0 ? 0 : 1], local, { address: '10.0.0.1', token, code: undefined })
      expect(await tallyOf(Array.from({ length: 800 }, (_, n) => login(n)))).toEqual({
        UNAUTHENTICATED: 10,
        RATE_LIMITED: 790,
      })
      expect(await tallyOf([login(0, true), login(1, true)])).toEqual({ RATE_LIMITED: 2 })
      for (const hub of hubs) await hub.close()
    },
  )

  verifies('web.login.code', 'aside, a code lets one of several in that bring it at once', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const code = { nonce: 'once', until: hub.clock.now() + 60_000 }
    const logins = Array.from({ length: 5 }, (_, n) =>
      logIn(hub, local, { address: `10.0.0.${n}`, token: false, code }),
    )
    expect(await tallyOf(logins)).toEqual({ right: 1, UNAUTHENTICATED: 4 })
    await hub.close()
  })
})
