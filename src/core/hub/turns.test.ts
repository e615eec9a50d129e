/** Turns: whoever has one makes room for whoever asks. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { Place } from '../../store/places.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { type OutsideFollower, stepOutside, turnName } from './following.ts'
import { newHolder, takeTurn, tryForTurn } from './turns.ts'

/** So many pages would be handed over if nobody made room, one in a tenth of a second. */
const endless = 60

eachEngine('A turn', (open) => {
  verifies('feed.follower.room', 'of a follower that always has more to do is left to whoever asks', async () => {
    const database = await open()
    const clock = new TestClock()
    const [one, two] = [
      await openTestHub(await database.connect(), { clock }),
      await openTestHub(await database.connect(), { clock }),
    ]
    const { signal } = new AbortController()
    let place: Place | undefined
    let pages = 0
    let most = endless
    const follower: OutsideFollower = {
      name: 'archive',
      place: async () => place,
      async take(_changes, to) {
        place = to
        if (++pages < most) await ensureAgent(one, local, { project: 'commons', name: `agent-${pages}` })
      },
      async rebuild(to) {
        place = to
        await ensureAgent(one, local, { project: 'commons', name: 'first' })
      },
    }
    const step = () => stepOutside(one, follower, { holder: newHolder(one), signal })
    const taking = { name: turnName('archive'), holder: newHolder(two), everyMs: 0, signal }
    // A transaction of anybody on the same PostgreSQL may hide the changes for a while.
    const begin = async () => {
      for (;;) {
        const outcome = await step()
        if (pages > 0) return outcome
      }
    }
    const going = begin()
    await expect.poll(() => pages, { interval: 1 }).toBeGreaterThan(0)
    let stood: number[] = []
    expect(
      await tryForTurn(two, taking.name, () =>
        takeTurn(two, taking, async () => {
          stood = [pages]
          // It neither goes on nor takes the turn back meanwhile.
          expect(await step()).toBe('held')
          stood.push(pages)
        }),
      ),
    ).toBe(true)
    expect(await going).toBe('more')
    expect(stood[0]).toBeLessThan(endless)
    expect(stood[1]).toBe(stood[0])
    // Then it goes on.
    most = 0
    await expect.poll(async () => ((await step()) === 'done' ? pages : 0)).toBe((stood[0] ?? 0) + 1)
  })
})
