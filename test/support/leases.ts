/** A project with three agents who reserve paths in it, seen by two nodes on one clock. */

import sql from 'sql-template-tag'
import { local } from '../../src/core/access/callers.ts'
import type { Acting } from '../../src/core/agents/acting.ts'
import { type Hub, inside } from '../../src/core/hub/hub.ts'
import { listLeases, type Reserving, reserve } from '../../src/core/leases/leases.ts'
import { TestClock } from './clock.ts'
import type { OpenDatabase } from './engines.ts'
import { as, openTestHub } from './hub.ts'

export const project = '/srv/code/app'
export const [ann, bob, cid] = [as('ann', project), as('bob', project), as('cid', project)]

export const asked: Omit<Reserving, 'patterns'> = { exclusive: true, reason: '', ttlMs: 3_600_000, onConflict: 'grant' }

export async function openLeases(open: OpenDatabase) {
  const database = await open()
  const clock = new TestClock()
  const hub = await openTestHub(await database.connect(), { clock })
  const other = await openTestHub(await database.connect(), { clock })
  const ask = async (who: Acting, patterns: string[], how: Partial<Reserving> = {}, at: Hub = hub) => {
    const { granted, conflicts } = await reserve(at, who, { ...asked, ...how, patterns })
    return {
      granted: granted.map(({ pattern }) => pattern),
      conflicts: conflicts.map(({ pattern, holders }) => [pattern, holders.map(({ agent }) => agent)]),
      ids: granted.map(({ id }) => id),
      expiresAt: granted[0]?.expiresAt,
    }
  }
  const active = async (at: Hub = hub) =>
    (await listLeases(at, local, project, { activeOnly: true, limit: 100 })).leases.map(
      ({ agent, pattern }) => `${agent} ${pattern}`,
    )
  const stored = async () =>
    (await hub[inside].db.all<{ pattern: string }>(sql`SELECT pattern FROM leases ORDER BY id`)).map(
      ({ pattern }) => pattern,
    )
  const close = async () => {
    await hub.close()
    await other.close()
  }
  return { hub, other, clock, ask, active, stored, close }
}
