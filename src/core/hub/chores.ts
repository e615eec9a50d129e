/** Chores: housekeeping in the background, done by one process at a time, once in an interval. */
import { nextTurn, pause } from '../../base/clock.ts'
import { thisProcess } from '../../base/processes.ts'
import type { Tx } from '../../db/port.ts'
import { type ChoreRow, findChore, takeChore, updateFreed, updateHeld } from '../../store/chores.ts'
import { commit, itself, type Note } from './commit.ts'
import { type Hub, reader } from './hub.ts'

export interface Chore {
  readonly name: string
  /** From the end of one run to the next, by any process. */
  readonly everyMs: number
  run(hub: Hub, turn: Turn): Promise<void>
}

/** A run of a chore in this process. Both ways of going on throw once the chore is another's, or Parley stops. */
export interface Turn {
  /** A small part of the work in one transaction, in which nobody else can take the chore. */
  batch<T>(work: (tx: Tx, note: Note) => Promise<T>): Promise<T>
  /** Before a part that only reads, or that commits by itself. Lets others in first. */
  goOn(): Promise<void>
}

/** The chore of a dead process is taken over after this. It is far longer than a batch takes. */
export const choreHoldMs = 30_000

/** Between two batches others must come to write, also of another process (db/sqlite/busy.ts). */
const pauseMs = 5

/** A timer of the system takes no more than 24 days; looking once a day costs nothing. */
const longestWaitMs = 86_400_000

/** Processes that start together look after different times, at most this long after their start. */
const startWithinMs = 5000

class TurnOver extends Error {}

/** Does the due chores, until the returned function is called; that waits for the running batch. */
export function keepChores(
  hub: Hub,
  chores: readonly Chore[],
  holder = `${thisProcess()}/${hub.ids.short()}`,
): () => Promise<void> {
  const stops = chores.map((chore) => keepChore(hub, chore, holder))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function keepChore(hub: Hub, chore: Chore, holder: string): () => Promise<void> {
  const { name, everyMs } = chore
  let stopped = false
  let cancel: (() => void) | undefined
  let looking: Promise<void> | undefined

  const lookIn = (ms: number) => {
    if (stopped) return
    cancel = hub.clock.after(Math.min(ms, longestWaitMs), () => {
      looking = look()
    })
  }

  async function look(): Promise<void> {
    let next = everyMs
    try {
      next = await tend()
    } catch (error) {
      if (!stopped) hub.log.warn({ err: error, chore: name }, 'housekeeping failed; it is tried again')
    }
    lookIn(next)
  }

  /** Returns when to look again. Looking takes no lock: only a chore that is due is taken. */
  async function tend(): Promise<number> {
    const now = hub.clock.now()
    const wait = dueIn(await findChore(reader(hub), name), chore, now)
    if (wait > 0) return wait
    const taken = await commit(hub, itself, (tx) => takeChore(tx, { name, holder, now, holdMs: choreHoldMs, everyMs }))
    if (!taken) return Math.min(everyMs, choreHoldMs)
    let done = false
    try {
      await chore.run(hub, turn())
      done = true
    } catch (error) {
      if (!(error instanceof TurnOver)) throw error
    } finally {
      const doneAt = done ? hub.clock.now() : undefined
      await commit(hub, itself, (tx) => updateFreed(tx, { name, holder, doneAt }))
    }
    return everyMs
  }

  function turn(): Turn {
    let heldUntil = hub.clock.now() + choreHoldMs
    let batches = 0

    /** Asked in the transaction of the batch itself: after a takeover nothing is done twice. */
    async function hold(tx: Tx): Promise<void> {
      const until = hub.clock.now() + choreHoldMs
      if (stopped || !(await updateHeld(tx, { name, holder, until }))) throw new TurnOver()
      heldUntil = until
    }

    return {
      async batch(work) {
        if (batches++ > 0) await pause(pauseMs)
        return commit(hub, itself, async (tx, note) => {
          await hold(tx)
          return work(tx, note)
        })
      },
      async goOn() {
        await nextTurn()
        if (stopped) throw new TurnOver()
        if (heldUntil - hub.clock.now() < choreHoldMs / 2) await commit(hub, itself, hold)
      },
    }
  }

  lookIn(shareOf(holder + name) * Math.min(everyMs, startWithinMs))
  return async () => {
    stopped = true
    cancel?.()
    await looking
  }
}

/** How long a chore is another's, or done; never longer than the time between two runs, lest a wrong clock stop it. */
function dueIn(row: ChoreRow | undefined, { everyMs }: Chore, now: number): number {
  if (row === undefined) return 0
  const free = row.held_until > now + choreHoldMs ? now : row.held_until
  const due = row.done_at === null || row.done_at > now + everyMs ? now : row.done_at + everyMs
  return Math.min(everyMs, Math.max(0, free - now, due - now))
}

/** A number from 0 to 1 that differs between processes and chores. */
function shareOf(text: string): number {
  let hash = 0
  for (const character of text) hash = (hash * 31 + character.charCodeAt(0)) % 9973
  return hash / 9973
}
