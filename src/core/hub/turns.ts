/** Turns: of several processes on one database, one at a time does a piece of work, and another goes on when it dies. */
import { nextTurn, pause } from '../../base/clock.ts'
import { isRunning, thisProcess } from '../../base/processes.ts'
import type { Tx } from '../../db/port.ts'
import { findChore, takeChore, updateFreed, updateHeld } from '../../store/chores.ts'
import { commit, itself, type Note } from './commit.ts'
import { type Hub, reader } from './hub.ts'

/** Both ways of going on throw once the turn is another's, or Parley stops. */
export interface Turn {
  /** A small part of the work in one transaction, in which nobody else can take the turn. */
  batch<T>(work: (tx: Tx, note: Note) => Promise<T>): Promise<T>
  /** Before a part that only reads, or that commits by itself. Lets others in first. */
  goOn(): Promise<void>
}

/** Whoever has died is taken over from after this. It is far longer than a batch takes. */
export const turnMs = 30_000

/** Between two batches others must come to write; another process looks again every few milliseconds (db/sqlite/busy.ts). */
export const pauseMs = 5

export const newHolder = (hub: Hub): string => `${thisProcess()}/${hub.ids.short()}`

export interface Taking {
  readonly name: string
  readonly holder: string
  /** From the end of one turn to the next, whoever has it. */
  readonly everyMs: number
  /** Aborted when Parley stops. */
  readonly signal: AbortSignal
}

class TurnOver extends Error {}

/** False if another process has the turn or had it lately, or took it over, or Parley stopped. */
export async function takeTurn(hub: Hub, taking: Taking, run: (turn: Turn) => Promise<void>): Promise<boolean> {
  const { name, holder, everyMs } = taking
  const claim = { name, holder, now: hub.clock.now(), holdMs: turnMs, everyMs }
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
    await run(turnOf(hub, taking))
    done = true
  } catch (error) {
    if (!(error instanceof TurnOver)) throw error
  } finally {
    const doneAt = done ? hub.clock.now() : undefined
    await commit(hub, itself, (tx) => updateFreed(tx, { name, holder, doneAt }))
  }
  return done
}

function turnOf(hub: Hub, { name, holder, signal }: Taking): Turn {
  let heldAt = hub.clock.monotonic()
  let batches = 0

  /** Asked in the transaction of the batch itself: whoever was taken over from does nothing twice. */
  async function hold(tx: Tx): Promise<void> {
    const until = hub.clock.now() + turnMs
    if (signal.aborted || !(await updateHeld(tx, { name, holder, until }))) throw new TurnOver()
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
    async goOn() {
      await nextTurn()
      if (signal.aborted) throw new TurnOver()
      if (hub.clock.monotonic() - heldAt > turnMs / 2) await commit(hub, itself, hold)
    },
  }
}

/** The chore of whoever tries for a turn that another has. */
const queueName = (name: string): string => `next ${name}`

/** Whether somebody tries for this turn: whoever has it ends it after the part in hand (feed.follower.room). */
export async function isWanted(hub: Hub, name: string): Promise<boolean> {
  const row = await findChore(reader(hub), queueName(name))
  const left = (row?.held_until ?? 0) - hub.clock.now()
  return row !== undefined && left > 0 && left <= turnMs && isRunning(row.holder) !== false
}

/** How long to try, and how often. */
const [patienceMs, lookEveryMs] = [60_000, 200]

/** Tries until `attempt` has had the turn; false where that does not come about. A busy follower would never pause by itself. */
export async function tryForTurn(hub: Hub, name: string, attempt: () => Promise<boolean>): Promise<boolean> {
  const place = { name: queueName(name), holder: newHolder(hub) }
  try {
    for (let waited = 0; !(await attempt()); waited += lookEveryMs) {
      if (waited >= patienceMs) return false
      const now = hub.clock.now()
      await commit(hub, itself, async (tx) => {
        if (!(await updateHeld(tx, { ...place, until: now + turnMs })))
          await takeChore(tx, { ...place, now, holdMs: turnMs, everyMs: 0 })
      })
      await pause(lookEveryMs)
    }
    return true
  } finally {
    await commit(hub, itself, (tx) => updateFreed(tx, { ...place, doneAt: undefined }))
  }
}

const holdEveryMs = 5000

/** Keeps the turn while something goes on that takes long and cannot ask for itself, such as another program. */
export async function holding<T>(turn: Turn, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const result = work.finally(() => done.abort())
  // The turn may end first; then nobody waits for the work any more.
  result.catch(() => {})
  while (!done.signal.aborted) {
    await pause(holdEveryMs, done.signal)
    await turn.goOn()
  }
  return result
}
