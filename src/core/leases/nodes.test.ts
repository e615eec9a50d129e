/** Leases where several nodes work at once: one waits for the other, and then looks again. */

import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { Db, Tx } from '../../db/port.ts'
import { lockProject } from '../../store/projects.ts'
import { local } from '../access/callers.ts'
import { actAs } from '../agents/acting.ts'
import { activity } from '../agents/activity.ts'
import { listLeases, type Reserving, release, reserve } from './leases.ts'

const project = '/srv/code/app'
const ann = as('ann', project)
const wish: Reserving = { patterns: ['src/**'], exclusive: true, reason: '', ttlMs: 60_000, onConflict: 'grant' }

/** Until somebody waits for a row of this database. SQLite lets nobody begin to write before the other has ended. */
async function untilBlocked(db: Db): Promise<void> {
  if (db.dialect === 'sqlite') return
  const waiting = sql`
    SELECT pid FROM pg_stat_activity
    WHERE application_name = current_setting('application_name') AND wait_event_type = 'Lock'`
  await expect.poll(async () => (await db.all(waiting)).length, { interval: 2, timeout: 5000 }).toBe(1)
}

eachEngine('Leases on two nodes', (open) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const hub = await openTestHub(await database.connect(), { clock })
    const other = await database.connect()
    const agent = await actAs(hub, ann)
    // Settled first: activity that waits to be written would be one more who waits for a row.
    await activity(hub).write()
    /** Begins a call here before the work of another node ends. */
    const meanwhile = async <Value>(work: (tx: Tx) => Promise<unknown>, begin: () => Promise<Value>) => {
      let begun: Promise<Value> | undefined
      await other.tx(async (tx) => {
        await work(tx)
        begun = begin()
        await untilBlocked(other)
        clock.advance(1000)
      })
      return begun as Promise<Value>
    }
    return { hub, clock, agent, meanwhile }
  }

  verifies('mail.lease.released', 'what another node is just releasing is not granted once more', async () => {
    const { hub, meanwhile } = await start()
    const { granted } = await reserve(hub, ann, wish)
    const again = await meanwhile(
      (tx) => tx.all(sql`UPDATE leases SET released_at = expires_at WHERE released_at IS NULL`),
      () => reserve(hub, ann, { ...wish, ttlMs: 120_000 }),
    )
    expect(again.granted).toHaveLength(1)
    expect(again.granted[0]).not.toMatchObject({ id: granted[0]?.id })
    expect((await listLeases(hub, local, project, { activeOnly: true, limit: 9 })).leases).toMatchObject([
      { id: again.granted[0]?.id, releasedAt: undefined },
    ])
    await hub.close()
  })

  verifies('mail.lease.released', 'a release waits for who reserves, and is as of when its turn came', async () => {
    const { hub, clock, agent, meanwhile } = await start()
    await reserve(hub, ann, wish)
    const released = await meanwhile(
      (tx) => lockProject(tx, agent.projectId),
      () => release(hub, ann, {}),
    )
    expect(released).toEqual({ released: 1, releasedAt: clock.now(), held: [], more: false })
    await hub.close()
  })
})
