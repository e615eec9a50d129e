/** The one writing connection of a process: whatever waits is committed at once, with one fsync. */

import { afterTurns, alarm } from '../../base/clock.ts'
import { shuttingDown, sqliteFault } from '../faults.ts'
import type { Tx } from '../port.ts'
import { whileBusy } from './busy.ts'
import type { SqliteConnection } from './connection.ts'
import { SqliteTx } from './tx.ts'

/** So that a burst does not hold up the event loop for long: 512 small units take about 20 ms. */
const unitsPerCommit = 512

/** A group of this size means that more units are to be expected. */
const busyUnits = 8

/** Statements answer at once, so a unit that takes this long waits for something else, and everybody behind it. */
const unitLimitMs = 10_000

interface Unit {
  readonly work: (tx: Tx) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Told only after COMMIT: a failure, too, may rest on what a neighbour has not committed yet. */
  failed: boolean
  result: unknown
  /** When it came, by the process's own clock: its patience counts from here. */
  readonly since: number
}

interface WriterOptions {
  readonly patienceMs: number
  /** Throws if a commit went into a file that is not there any more: then nobody is told that it was kept. */
  readonly committed: () => void
}

export class SqliteWriter {
  /** Transactions and the units of work in them, since the start. */
  readonly stats = { groups: 0, units: 0 }
  readonly #connection: SqliteConnection
  readonly #patienceMs: number
  readonly #committed: () => void
  readonly #statements
  #queue: Unit[] = []
  #active = false
  #busy = false
  #closing = false

  constructor(connection: SqliteConnection, { patienceMs, committed }: WriterOptions) {
    this.#connection = connection
    this.#patienceMs = patienceMs
    this.#committed = committed
    this.#statements = {
      begin: connection.prepare('BEGIN IMMEDIATE'),
      commit: connection.prepare('COMMIT'),
      rollback: connection.prepare('ROLLBACK'),
      savepoint: connection.prepare('SAVEPOINT unit'),
      release: connection.prepare('RELEASE unit'),
      undo: connection.prepare('ROLLBACK TO unit'),
    }
  }

  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(shuttingDown())
    return new Promise<T>((resolve, reject) => {
      // `resolve` is called with the value of `work`, and with nothing else.
      this.#queue.push({
        work,
        resolve: resolve as (value: unknown) => void,
        reject,
        failed: false,
        result: undefined,
        since: performance.now(),
      })
      if (!this.#active) this.#schedule()
    })
  }

  /** Refuses new work, finishes what waits, closes the connection. */
  async close(): Promise<void> {
    const last = this.#active ? this.tx(async () => {}).catch(() => {}) : undefined
    this.#closing = true
    await last
    this.#connection.close()
  }

  /**
   * The group forms at the end of the event loop's turn: all requests that came in together share it. When many come,
   * two turns more let those in who are on their way: a commit costs as much as twenty units.
   */
  #schedule(): void {
    this.#active = true
    afterTurns(this.#busy ? 3 : 1, () => {
      const group = this.#queue.splice(0, unitsPerCommit)
      this.#busy = group.length >= busyUnits
      void this.#runGroup(group).then(() => {
        if (this.#queue.length > 0) this.#schedule()
        else this.#active = false
      })
    })
  }

  async #runGroup(group: readonly Unit[]): Promise<void> {
    try {
      await this.#attempt(group)
    } catch (error) {
      if (error instanceof GroupLost) this.#retryWithout(error.culprit, group)
      else for (const { reject } of group) reject(sqliteFault(error))
      return
    }
    this.stats.groups++
    this.stats.units += group.length
    for (const unit of group) {
      if (unit.failed) unit.reject(unit.result)
      else unit.resolve(unit.result)
    }
  }

  #retryWithout(culprit: Unit, group: readonly Unit[]): void {
    culprit.reject(culprit.result)
    this.#queue.unshift(...group.filter((unit) => unit !== culprit))
  }

  async #attempt(group: readonly Unit[]): Promise<void> {
    const { begin, savepoint, undo, release, commit, rollback } = this.#statements
    const waited = performance.now() - (group[0]?.since ?? 0)
    await whileBusy(() => begin.run(), this.#patienceMs - waited)
    const alarm = startAlarm()
    try {
      for (const unit of group) {
        savepoint.run()
        await this.#run(unit, alarm.rings)
        if (unit.failed) undo.run()
        release.run()
      }
      commit.run()
      this.#committed()
    } finally {
      alarm.stop()
      if (this.#connection.inTransaction) rollback.run()
    }
  }

  async #run(unit: Unit, alarm: Promise<never>): Promise<void> {
    const tx = new SqliteTx(this.#connection)
    unit.failed = false
    try {
      unit.result = await Promise.race([unit.work(tx), alarm])
      tx.throwFailure()
    } catch (error) {
      unit.failed = true
      unit.result = error
      // A full disk, for one, takes the transaction away with the statement that met it.
      if (error instanceof Stuck || !this.#connection.inTransaction) throw new GroupLost(unit)
    } finally {
      tx.end()
    }
  }
}

/** The units before this one are undone, through no fault of theirs: they run again. */
class GroupLost extends Error {
  readonly culprit: Unit

  constructor(culprit: Unit) {
    super('The transaction is lost.')
    this.culprit = culprit
  }
}

class Stuck extends Error {}

function startAlarm(): { rings: Promise<never>; stop: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = alarm(unitLimitMs, () => {
    reject(new Stuck('A unit of work waited for something other than its statements, and everybody behind it.'))
  })
  return { rings: promise, stop }
}
