/** Turns: whoever has one makes room for whoever asks. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { FeedPosition } from '../../store/feed/positions.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { newHolder, takeJobLease, waitForJobLease } from '../hub/job-leases.ts'
import { jobName, type OutsideProjection, stepOutside } from './outside-projections.ts'

/** So many pages would be handed over if nobody made room, one in a tenth of a second. */
const endless = 60

eachEngine('A job lease', (open) => {
  verifies('feed.follower.room', 'of a follower that always has more to do is left to whoever asks', async () => {
    const database = await open()
    const clock = new TestClock()
    const [one, two] = [
      await openTestHub(await database.connect(), { clock }),
      await openTestHub(await database.connect(), { clock }),
    ]
    const { signal } = new AbortController()
    let watermark: FeedPosition | undefined
    let pages = 0
    let most = endless
    const follower: OutsideProjection = {
      name: 'archive',
      watermark: async () => watermark,
      async take(_changes, to) {
        watermark = to
        if (++pages < most) await ensureAgent(one, local, { project: 'commons', name: `agent-${pages}` })
      },
      async rebuild(to) {
        watermark = to
        await ensureAgent(one, local, { project: 'commons', name: 'first' })
      },
    }
    const step = () => stepOutside(one, follower, { holder: newHolder(one), signal })
    const taking = { name: jobName('archive'), holder: newHolder(two), everyMs: 0, signal }
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
      await waitForJobLease(two, taking.name, () =>
        takeJobLease(two, taking, async () => {
          stood = [pages]
          // It neither goes on nor takes the lease back meanwhile.
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
