/** The cleanup of leases: what has expired is marked as released. It is free either way. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Chore } from '../hub/chores.ts'
import { sweepLeases } from './leases.ts'

/** So many go in one transaction, and others come to write before the next. */
const atOnce = 200
const breath = 5

export const leaseCleanupChore = (everyMs: number): Chore => ({
  name: 'lease-cleanup',
  everyMs,
  async run(hub, turn) {
    let swept: number
    do {
      await turn.goOn()
      swept = await sweepLeases(hub, atOnce)
      if (swept > 0) await pause(breath)
    } while (swept > 0)
  },
})
