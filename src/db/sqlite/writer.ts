/** The one writing connection of a process: whatever waits is committed at once, with one flush to the disk. */

import { afterTurns, alarm } from '../../base/clock.ts'
import { inNoTrace } from '../../base/tracing.ts'
import { shuttingDown, sqliteFault } from '../faults.ts'
import type { DbObserver, Tx, TxOptions } from '../port.ts'
import { whileBusy } from './busy.ts'
import type { SqliteConnection } from './connection.ts'
import { SqliteTx } from './tx.ts'

/** So that a burst does not hold up the event loop for long: 512 small units take about 20 ms. */
const unitsPerCommit = 512

/** A group of this size means that more units are to be expected. */
const busyUnits = 8

/**
 * A savepoint for each unit costs 14 of 100 of the rows of a send, so a group runs without. If one of its units fails after
 * it has written, the group runs again with savepoints, and so do this many after it: whoever fails so once may do it again.
 */
const groupsGuarded = 16

/** Statements answer at once, so a unit that takes this long waits for something else, and everybody behind it. */
const unitLimitMs = 10_000

interface Unit {
  readonly work: (tx: Tx) => Promise<unknown>
  /** Whether nobody need wait for the disk. */
  readonly repeatable: boolean
  readonly ran: TxOptions['ran']
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Told only after COMMIT: a failure, too, may rest on what a neighbour has not committed yet. */
  failed: boolean
  result: unknown
  /** When it came, by the process's own clock: its patience counts from here. */
  readonly since: number
}

interface WriterOptions {
  /** How long a group waits for other processes. */
  readonly patienceMs: number
  /** Called before each BEGIN. Throws if nothing may be written any more. */
  readonly beginning: () => void
  /** Called right before each COMMIT that will be flushed: inside of the transaction a statement takes no lock. */
  readonly committing: () => void
  /** Called after each COMMIT, unless all units are repeatable. Throws if it may be lost: then nobody is told that it is stored. */
  readonly flush: () => void
  /** Called after that, flushed or not, if something was written, with the number of units. */
  readonly committed: (units: number) => void
}

export class SqliteWriter {
  /** Transactions and the units of work in them since the start, and how often a group ran again with savepoints. */
  readonly stats = { groups: 0, units: 0, reruns: 0 }
  readonly #connection: SqliteConnection
  readonly #patienceMs: number
  readonly #beginning: WriterOptions['beginning']
  readonly #committing: WriterOptions['committing']
  readonly #flush: WriterOptions['flush']
  readonly #committed: WriterOptions['committed']
  readonly #statements
  #queue: Unit[] = []
  #active = false
  #busy = false
  #closing = false
  /** How many of the next groups have savepoints. */
  #guardedGroups = 0
  observer: DbObserver | undefined

  constructor(connection: SqliteConnection, { patienceMs, beginning, committing, flush, committed }: WriterOptions) {
    this.#connection = connection
    this.#patienceMs = patienceMs
    this.#beginning = beginning
    this.#committing = committing
    this.#flush = flush
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

  tx<T>(work: (tx: Tx) => Promise<T>, { repeatable = false, ran }: TxOptions = {}): Promise<T> {
    if (this.#closing) return Promise.reject(shuttingDown())
    return new Promise<T>((resolve, reject) => {
      // `resolve` is called with the value of `work`, and with nothing else.
      this.#queue.push({
        work,
        repeatable,
        ran,
        resolve: resolve as (value: unknown) => void,
        reject,
        failed: false,
        result: undefined,
        since: performance.now(),
      })
      // A group is in no trace: not in that of the call which came first.
      if (!this.#active) inNoTrace(() => this.#schedule())
    })
  }

  /** Units that wait for their commit to begin. */
  get queued(): number {
    return this.#queue.length
  }

  /** Refuses new work, finishes what waits, and closes the connection after all others. */
  async close(closeOthers: () => Promise<void>): Promise<void> {
    const last = this.#active ? this.tx(async () => {}).catch(() => {}) : undefined
    this.#closing = true
    await last
    await closeOthers()
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
      const goOn = () => {
        if (this.#queue.length > 0) this.#schedule()
        else this.#active = false
      }
      void this.#runGroup(group).then(goOn, goOn)
    })
  }

  async #runGroup(group: Unit[]): Promise<void> {
    const began = performance.now()
    try {
      await this.#attempt(group)
    } catch (error) {
      if (error instanceof GroupLost) this.#runAgain(group, error)
      else for (const { reject } of group) reject(sqliteFault(error))
      return
    }
    this.stats.groups++
    this.stats.units += group.length
    this.observer?.committed(group.length, Math.max(0, began - (group[0]?.since ?? began)))
    for (const unit of group) {
      // One that came while the group ran has waited for nothing.
      unit.ran?.(group.length, Math.max(0, began - unit.since))
      if (unit.failed) unit.reject(unit.result)
      else unit.resolve(unit.result)
    }
  }

  /** The units of the group are undone: through no fault of theirs, but for the one that is left out. */
  #runAgain(group: readonly Unit[], { leftOut }: GroupLost): void {
    if (leftOut === undefined) this.stats.reruns++
    this.observer?.retried('race')
    leftOut?.reject(leftOut.result)
    this.#queue.unshift(...group.filter((unit) => unit !== leftOut))
  }

  async #attempt(group: Unit[]): Promise<void> {
    this.#beginning()
    const { begin, commit, rollback } = this.#statements
    const waited = performance.now() - (group[0]?.since ?? 0)
    await whileBusy(() => begin.run(), this.#patienceMs - waited)
    const alarm = startAlarm()
    try {
      const wrote = await Promise.race([this.#runUnits(group, alarm), alarm.rings])
      // A unit that has only read, too: it may answer for what another process has not flushed yet.
      const flushed = group.some(({ repeatable }) => !repeatable)
      if (flushed) this.#committing()
      commit.run()
      try {
        if (flushed) this.#flush()
      } finally {
        if (wrote) this.#committed(group.length)
      }
    } finally {
      alarm.stop()
      if (this.#connection.inTransaction) rollback.run()
    }
  }

  /** Whether one of them may have written. Units that come of the last one join the group: one flush for both. */
  async #runUnits(group: Unit[], alarm: Alarm): Promise<boolean> {
    const { savepoint, undo, release } = this.#statements
    let wrote = false
    const guarded = this.#guardedGroups > 0
    if (guarded) this.#guardedGroups--
    for (const unit of group) {
      if (guarded) savepoint.run()
      const tx = new SqliteTx(this.#connection)
      alarm.running = { unit, tx }
      await run(unit, tx)
      // The unit was given up: another transaction runs by now.
      if (alarm.rang) return false
      // A full disk, for one, takes the transaction away with the statement that met it.
      if (!this.#connection.inTransaction) throw new GroupLost(unit)
      if (guarded) {
        if (unit.failed) undo.run()
        release.run()
      } else if (unit.failed && tx.wrote) {
        // The first one saw nothing that is not committed: its failure stands, and the others have not run yet.
        if (unit === group[0]) throw new GroupLost(unit)
        this.#guardedGroups = groupsGuarded
        throw new GroupLost()
      }
      wrote ||= tx.wrote
      if (unit === group.at(-1)) group.push(...this.#queue.splice(0, unitsPerCommit - group.length))
    }
    return wrote
  }
}

async function run(unit: Unit, tx: SqliteTx): Promise<void> {
  unit.failed = false
  try {
    unit.result = await unit.work(tx)
    tx.throwFailure()
  } catch (error) {
    unit.failed = true
    unit.result = error
  } finally {
    tx.end()
  }
}

/** The transaction is gone, and the group runs again, without the unit that lost it, if one is named. */
class GroupLost extends Error {
  readonly leftOut: Unit | undefined

  constructor(leftOut?: Unit) {
    super('The transaction is lost.')
    this.leftOut = leftOut
  }
}

/** Rings when a unit waits for something other than its statements, and everybody behind it. */
interface Alarm {
  readonly rings: Promise<never>
  rang: boolean
  running: { readonly unit: Unit; readonly tx: SqliteTx } | undefined
  stop(): void
}

function startAlarm(): Alarm {
  const { promise: rings, reject } = Promise.withResolvers<never>()
  const started: Alarm = { rings, rang: false, running: undefined, stop: () => {} }
  started.stop = alarm(unitLimitMs, () => {
    started.rang = true
    if (started.running === undefined) return
    const { unit, tx } = started.running
    // Or its next statement would run in the transaction of others.
    tx.end()
    unit.result = new Error('A unit of work waited for something other than its statements, and everybody behind it.')
    reject(new GroupLost(unit))
  })
  return started
}
