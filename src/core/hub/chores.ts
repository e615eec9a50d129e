/** Chores: housekeeping in the background, done by one process at a time, once in an interval. */
import { isRunning } from '../../base/processes.ts'
import { type ChoreRow, findChore } from '../../store/chores.ts'
import { type Hub, reader } from './hub.ts'
import { type JobLease, jobLeaseMs, newHolder, takeJobLease } from './job-leases.ts'
import { keepLooking } from './keep-looking.ts'

export interface Chore {
  readonly name: string
  /** From the end of one run to the next, by any process. */
  readonly everyMs: number
  run(hub: Hub, job: JobLease): Promise<void>
}

/** A timer of the system takes no more than 24 days; looking once a day costs nothing. */
const longestWaitMs = 86_400_000

/** Processes that start together look after different times, at most this long after their start. */
const startWithinMs = 5000

/** Does the due chores, until the returned function is called; that waits for the running batch. */
export function keepChores(hub: Hub, chores: readonly Chore[], holder = newHolder(hub)): () => Promise<void> {
  const stops = chores.map((chore) => keepChore(hub, chore, holder))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function keepChore(hub: Hub, chore: Chore, holder: string): () => Promise<void> {
  const { name, everyMs } = chore
  const againMs = Math.min(everyMs, longestWaitMs)

  /** Returns when to look again. Looking takes no lock: only a chore that is due is taken. */
  async function tend(signal: AbortSignal): Promise<number> {
    const wait = dueIn(await findChore(reader(hub), name), chore, hub.clock.now())
    if (wait > 0) return wait
    const done = await takeJobLease(hub, { name, holder, everyMs, signal }, (job) => runCounted(hub, chore, job))
    return done ? everyMs : Math.min(everyMs, jobLeaseMs)
  }

  const { stop } = keepLooking(hub, {
    gatherMs: 0,
    firstMs: shareOf(holder + name) * Math.min(everyMs, startWithinMs),
    backOff: { firstMs: againMs, longestMs: againMs, wakesShorten: false },
    failure: 'housekeeping failed; it is tried again',
    about: { chore: name },
    look: async ({ signal }) => ({ inMs: Math.min(await tend(signal), longestWaitMs) }),
  })
  return stop
}

async function runCounted(hub: Hub, chore: Chore, job: JobLease): Promise<void> {
  const { choreRuns, choreSeconds, choreDone } = hub.metrics
  const began = hub.clock.monotonic()
  let outcome = 'error'
  try {
    await chore.run(hub, job)
    outcome = 'ok'
    choreDone.labels(chore.name).set(Math.round(hub.clock.now() / 1000))
  } finally {
    choreRuns.labels(chore.name, outcome).inc()
    choreSeconds.labels(chore.name).set((hub.clock.monotonic() - began) / 1000)
  }
}

/** How long a chore is another's, or done; never longer than the time between two runs, lest a wrong clock stop it. */
function dueIn(row: ChoreRow | undefined, { everyMs }: Chore, now: number): number {
  if (row === undefined) return 0
  const held = row.held_until > now && row.held_until <= now + jobLeaseMs
  // A process of this machine that was killed is not waited for; `takeJobLease` asks again.
  const free = held && isRunning(row.holder) !== false ? row.held_until : now
  const due = row.done_at === null || row.done_at > now + everyMs ? now : row.done_at + everyMs
  return Math.min(everyMs, Math.max(0, free - now, due - now))
}

/** A number from 0 to 1 that differs between processes and chores. */
function shareOf(text: string): number {
  let hash = 0
  for (const character of text) hash = (hash * 31 + character.charCodeAt(0)) % 9973
  return hash / 9973
}
