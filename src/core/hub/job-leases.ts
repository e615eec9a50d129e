/** Job leases: of several processes on one database, one at a time does a job, and another goes on when it dies. */
import { nextTurn, pause } from '../../base/clock.ts'
import { isRunning, thisProcess } from '../../base/processes.ts'
import type { Tx } from '../../db/port.ts'
import { findChore, takeChore, updateFreed, updateHeld } from '../../store/chores.ts'
import { commit, itself, type Note } from './commit.ts'
import { type Hub, reader } from './hub.ts'

/** The right to do a job for a while. Both methods throw once another process has it, or Parley stops. */
export interface JobLease {
  /** A small part of the work in one transaction, in which nobody else can take the lease. */
  batch<T>(work: (tx: Tx, note: Note) => Promise<T>): Promise<T>
  /** Called before a part that only reads, or that commits by itself. Lets others in first. */
  renew(): Promise<void>
}

/** A holder that has died is taken over from after this. It is far longer than a batch takes. */
export const jobLeaseMs = 30_000

/** Between two batches others must come to write; another process looks again every few milliseconds (db/sqlite/busy.ts). */
export const pauseMs = 5

export const newHolder = (hub: Hub): string => `${thisProcess()}/${hub.ids.short()}`

interface Taking {
  readonly name: string
  readonly holder: string
  /** From the end of one run to the next, by any process. */
  readonly everyMs: number
  /** Aborted when Parley stops. */
  readonly signal: AbortSignal
}

class JobLeaseLost extends Error {}

/** False if another process has the lease or had it lately, or took it over, or Parley stopped. */
export async function takeJobLease(hub: Hub, taking: Taking, run: (job: JobLease) => Promise<void>): Promise<boolean> {
  const { name, holder, everyMs } = taking
  const claim = { name, holder, now: hub.clock.now(), holdMs: jobLeaseMs, everyMs }
  const taken = await commit(hub, itself, async (tx) => {
    if (await takeChore(tx, claim)) return true
    const other = (await findChore(tx, name))?.holder
    // A process of this machine that was killed is not waited for (feed.follower.one-process).
    if (other === undefined || isRunning(other) !== false) return false
    await updateFreed(tx, { name, holder: other, doneAt: undefined })
    return takeChore(tx, claim)
  })
  if (!taken) return false
  let done = false
  try {
    await run(jobLeaseOf(hub, taking))
    done = true
  } catch (error) {
    if (!(error instanceof JobLeaseLost)) throw error
  } finally {
    const doneAt = done ? hub.clock.now() : undefined
    await commit(hub, itself, (tx) => updateFreed(tx, { name, holder, doneAt }))
  }
  return done
}

function jobLeaseOf(hub: Hub, { name, holder, signal }: Taking): JobLease {
  let heldAt = hub.clock.monotonic()
  let batches = 0

  /** Asked in the transaction of the batch itself: a process that was taken over from does nothing twice. */
  async function hold(tx: Tx): Promise<void> {
    const until = hub.clock.now() + jobLeaseMs
    if (signal.aborted || !(await updateHeld(tx, { name, holder, until }))) throw new JobLeaseLost()
    heldAt = hub.clock.monotonic()
  }

  return {
    async batch(work) {
      if (batches++ > 0) await pause(pauseMs)
      return commit(hub, itself, async (tx, note) => {
        await hold(tx)
        return work(tx, note)
      })
    },
    async renew() {
      await nextTurn()
      if (signal.aborted) throw new JobLeaseLost()
      if (hub.clock.monotonic() - heldAt > jobLeaseMs / 2) await commit(hub, itself, hold)
    },
  }
}

/** The row of a process that waits for a lease that another has. */
const queueName = (name: string): string => `next ${name}`

/** Whether a process waits for this lease: its holder then ends after the part in hand (feed.follower.room). */
export async function isWanted(hub: Hub, name: string): Promise<boolean> {
  const row = await findChore(reader(hub), queueName(name))
  const left = (row?.held_until ?? 0) - hub.clock.now()
  return row !== undefined && left > 0 && left <= jobLeaseMs && isRunning(row.holder) !== false
}

/** How long to try, and how often. */
const [patienceMs, lookEveryMs] = [60_000, 200]

/** Tries until `attempt` has had the lease; false after a minute. A busy follower would never pause by itself. */
export async function waitForJobLease(hub: Hub, name: string, attempt: () => Promise<boolean>): Promise<boolean> {
  const place = { name: queueName(name), holder: newHolder(hub) }
  try {
    for (let waited = 0; !(await attempt()); waited += lookEveryMs) {
      if (waited >= patienceMs) return false
      const now = hub.clock.now()
      await commit(hub, itself, async (tx) => {
        if (!(await updateHeld(tx, { ...place, until: now + jobLeaseMs })))
          await takeChore(tx, { ...place, now, holdMs: jobLeaseMs, everyMs: 0 })
      })
      await pause(lookEveryMs)
    }
    return true
  } finally {
    await commit(hub, itself, (tx) => updateFreed(tx, { ...place, doneAt: undefined }))
  }
}

const holdEveryMs = 5000

/** Renews the lease while other work goes on that cannot, such as another program. */
export async function renewDuring<T>(job: JobLease, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const result = work.finally(() => done.abort())
  // The lease may be lost first; then nobody waits for the work any more.
  result.catch(() => {})
  while (!done.signal.aborted) {
    await pause(holdEveryMs, done.signal)
    await job.renew()
  }
  return result
}
