/** Trying again while another process holds the SQLite file, without holding up this one. */
import { randomInt } from 'node:crypto'
import { nextTurn, pause } from '../../base/clock.ts'
import { isSqliteBusy, sqliteFault } from '../faults.ts'

/** How long to try before the caller is told DB_BUSY, in milliseconds. */
export const defaultPatienceMs = 10_000

/** Runs `attempt` until it succeeds, fails for another reason than a lock, or patience ends. */
export async function whileBusy<T>(attempt: () => T, patienceMs: number): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (let tries = 0; ; tries++) {
    try {
      return attempt()
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() >= deadline) throw sqliteFault(error)
    }
    await lookAway(tries)
  }
}

/**
 * A commit takes a fraction of a millisecond, so look again at once; then now and then, never in step with others.
 * Longer pauses are unfair: with four processes writing all the time, 16 ms let one of them wait a second, 3 ms a third of it.
 */
async function lookAway(tries: number): Promise<void> {
  if (tries < 4) await nextTurn()
  else await pause(randomInt(1, 4))
}
