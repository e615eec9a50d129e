/** Units that would wait for one row: those that come while others of their lane run share a transaction, and one wait for the disk. */
import sql from 'sql-template-tag'
import { Unsure } from '../faults.ts'
import type { Tx } from '../port.ts'
import type { PostgresTx } from './tx.ts'

type Work<T> = (tx: Tx) => Promise<T>

/** Runs work in a transaction of its own; once, or until it is through. */
export type Attempt = <T>(work: (tx: PostgresTx) => Promise<T>) => Promise<T>

interface Unit {
  readonly work: Work<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Others may want the row too, such as another node: they get it after some 10 ms. */
const unitsPerGroup = 32

/**
 * A group holds the rows of its first units while the next ones want theirs. Two groups may so wait for each other, which
 * units alone never do, since each locks its rows in one order. The server would take a second to notice.
 */
const patience = sql`SET LOCAL lock_timeout = '50ms'`

export class Lanes {
  readonly #once: Attempt
  readonly #alone: Attempt
  /** Those who wait, by lane; a lane without a list is free. */
  readonly #waiting = new Map<string, Unit[]>()

  constructor({ once, alone }: { once: Attempt; alone: Attempt }) {
    this.#once = once
    this.#alone = alone
  }

  run<T>(lane: string, work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // `resolve` is called with the value of `work`, and with nothing else.
      const unit = { work, resolve: resolve as (value: unknown) => void, reject }
      const waiting = this.#waiting.get(lane)
      if (waiting !== undefined) waiting.push(unit)
      else void this.#go(lane, unit)
    })
  }

  /** Never rejects: each unit is told by itself. */
  async #go(lane: string, first: Unit): Promise<void> {
    const waiting: Unit[] = []
    this.#waiting.set(lane, waiting)
    for (let group = [first]; group.length > 0; group = waiting.splice(0, unitsPerGroup)) {
      const refusal = await this.#runGroup(group)
      // They have waited for the same: nobody waits for a connection twice as long.
      if (refusal !== undefined) for (const { reject } of waiting.splice(0)) reject(refusal)
    }
    this.#waiting.delete(lane)
  }

  /** Returns the error if there was no connection to run it on. */
  async #runGroup(group: readonly Unit[]): Promise<unknown> {
    let started = false
    const begun =
      <T>(work: (tx: PostgresTx) => Promise<T>) =>
      (tx: PostgresTx) => {
        started = true
        return work(tx)
      }
    try {
      if (group.length > 1) {
        // Told only now: a failure, too, may rest on what a neighbour had not committed yet.
        for (const tell of await this.#once(begun((tx) => together(tx, group)))) tell()
        return undefined
      }
    } catch (error) {
      if (!started || error instanceof Unsure) {
        for (const { reject } of group) reject(error)
        return started ? undefined : error
      }
      // Nothing of it is saved. Whoever failed fails again, alone.
    }
    let refusal: unknown
    const fail = (error: unknown, { reject }: Unit) => {
      if (!started) refusal = error
      reject(error)
    }
    await Promise.all(
      group.map((unit) => this.#alone(begun(unit.work)).then(unit.resolve, (error) => fail(error, unit))),
    )
    return refusal
  }
}

/** Runs the units; returns what each is to be told after the commit. */
async function together(tx: PostgresTx, group: readonly Unit[]): Promise<(() => void)[]> {
  const tell: (() => void)[] = []
  tx.begin()
  for (const { work, resolve, reject } of group) {
    const before = tx.writes
    try {
      const value = await work(tx)
      tell.push(() => resolve(value))
    } catch (error) {
      // One that has written nothing leaves nothing behind: the others go on.
      if (tx.failure !== undefined || tx.writes > before) throw error
      tell.push(() => reject(error))
    }
    if (tell.length === 1) tx.enqueue(patience)
  }
  return tell
}
