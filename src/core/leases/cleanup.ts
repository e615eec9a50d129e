/** The cleanup of leases: expired ones are marked as released. They are free either way. */
import { pause } from '../../base/clock.ts'
import type { Chore } from '../hub/chores.ts'
import { pauseMs } from '../hub/job-leases.ts'
import { sweepLeases } from './leases.ts'

const leasesPerCommit = 200

export const leaseCleanupChore = (everyMs: number): Chore => ({
  name: 'lease-cleanup',
  everyMs,
  async run(hub, job) {
    let swept: number
    do {
      await job.renew()
      swept = await sweepLeases(hub, leasesPerCommit)
      if (swept > 0) await pause(pauseMs)
    } while (swept > 0)
  },
})
