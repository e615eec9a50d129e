/** Batches: on PostgreSQL, units that come while others are on their way become one statement, and pay for one wait for the disk. Others that want one row take turns. */
import { inBriefSpan, inNoTrace, inSpan, isTraced } from '../../base/tracing.ts'
import { can } from '../../db/dialect.ts'
import { isPassing, Unsure } from '../../db/faults.ts'
import type { Tx } from '../../db/port.ts'
import { commit, itself, type Note } from './commit.ts'
import { type Hub, reader } from './hub.ts'
import { memory } from './memory.ts'

/** So many at a time: twice as many are no cheaper each, and hold their rows for longer. */
const unitsPerBatch = 32

/** One is on its way to the disk while the other is worked on. */
const batchesAtOnce = 2

/** Something to be done, and the names of the rows that it locks. */
export interface Unit {
  /** Several units of a batch may want the same one. */
  readonly rows: readonly string[]
  /** Only one unit of a batch may want one of these: whoever comes for one that another waits for is done alone. */
  readonly ownRows: readonly string[]
}

/** Does all of them in one statement that commits itself; an answer for each. Units are batched with others of the same one. */
type Batch<U extends Unit, Done> = (tx: Tx, note: Note, units: readonly U[]) => Promise<readonly Done[]>

interface Waiting {
  readonly run: Batch<Unit, unknown>
  readonly unit: Unit
  readonly resolve: (done: unknown) => void
  readonly reject: (error: unknown) => void
  /** Told when it goes to the database, with so many units in its batch. */
  readonly began?: ((units: number) => void) | undefined
}

/** A batch failed, and nothing of it is saved: its units are done in turn, and each fails alone if it has to. */
class BatchFailed extends Error {}

const rowsOf = ({ rows, ownRows }: Unit): string[] => [...rows, ...ownRows]

class Batches {
  readonly #hub: Hub
  #waiting: Waiting[] = []
  #running = 0
  /** The rows of batches on their way: another batch would wait for their commit, with all that it has locked itself. */
  readonly #locked = new Set<string>()
  /** The rows that one unit alone may want, until it is done. */
  readonly #owned = new Set<string>()
  /** The end of the last of those that take turns, for each row that they want. */
  readonly #turns = new Map<string, Promise<void>>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  async run<U extends Unit, Done, Other>(
    run: Batch<U, Done>,
    unit: U,
    fallback: () => Promise<Other>,
  ): Promise<Done | Other> {
    const { ownRows } = unit
    if (ownRows.some((row) => this.#owned.has(row))) return fallback()
    for (const row of ownRows) this.#owned.add(row)
    try {
      return await (isTraced() ? this.#enqueueTraced(run, unit) : this.#enqueue(run, unit))
    } catch (error) {
      if (!(error instanceof BatchFailed)) throw error
    } finally {
      for (const row of ownRows) this.#owned.delete(row)
    }
    return this.inTurn(rowsOf(unit), fallback)
  }

  #enqueue<U extends Unit, Done>(run: Batch<U, Done>, unit: U, began?: Waiting['began']): Promise<Done> {
    return new Promise<Done>((resolve, reject) => {
      // Called with units and answers of this batch, and with nothing else.
      const waiting = { run, unit, resolve, reject, began } as unknown as Waiting
      this.#waiting.push(waiting)
      this.#start()
    })
  }

  /** The commit of a batch belongs to several calls: each has a span for its own share of it. */
  #enqueueTraced<U extends Unit, Done>(run: Batch<U, Done>, unit: U): Promise<Done> {
    return inSpan('commit', async (span) => {
      const since = performance.now()
      const began = (units: number) =>
        span?.note({ 'parley.commit.units': units, 'parley.commit.waited_ms': performance.now() - since })
      const done = await this.#enqueue(run, unit, began)
      inBriefSpan('wake', () => {})
      return done
    })
  }

  /**
   * Runs work after all that came before it for one of its rows. If one of them gave up (its row is held for long, there is no
   * connection), so does this: nobody waits twice as long.
   */
  async inTurn<T>(rows: readonly string[], work: () => Promise<T>): Promise<T> {
    const done = Promise.all(rows.map((row) => this.#turns.get(row))).then(work)
    const end = done.then(
      () => {},
      (error) => {
        if (isPassing(error)) throw error
      },
    )
    for (const row of rows) this.#turns.set(row, end)
    try {
      await end.catch(() => {})
      return await done
    } finally {
      for (const row of rows) if (this.#turns.get(row) === end) this.#turns.delete(row)
      this.#start()
    }
  }

  #start(): void {
    while (this.#running < batchesAtOnce) {
      const batch = this.#next()
      const [first] = batch
      if (first === undefined) return
      this.#running++
      const goOn = () => {
        this.#running--
        for (const { unit } of batch) for (const row of rowsOf(unit)) this.#locked.delete(row)
        this.#start()
      }
      void this.#carry(first.run, batch).then(goOn, goOn)
    }
  }

  /** The first units of one kind. A unit whose rows are taken waits, and every later unit for the same rows waits behind it. */
  #next(): Waiting[] {
    const batch: Waiting[] = []
    const left: Waiting[] = []
    const passedOver = new Set<string>()
    for (const one of this.#waiting) {
      const rows = rowsOf(one.unit)
      const { run } = batch[0] ?? one
      const free = !rows.some((row) => this.#locked.has(row) || this.#turns.has(row) || passedOver.has(row))
      if (free && one.run === run && batch.length < unitsPerBatch) batch.push(one)
      else {
        left.push(one)
        for (const row of rows) passedOver.add(row)
      }
    }
    this.#waiting = left
    for (const { unit } of batch) for (const row of rowsOf(unit)) this.#locked.add(row)
    return batch
  }

  async #carry(run: Batch<Unit, unknown>, batch: readonly Waiting[]): Promise<void> {
    const units = batch.map(({ unit }) => unit)
    let started = false
    try {
      for (const { began } of batch) began?.(batch.length)
      const done = await inNoTrace(() =>
        commit(this.#hub, itself, (tx, note) => {
          started = true
          return run(tx, note, units)
        }),
      )
      for (const [n, { resolve }] of batch.entries()) resolve(done[n])
    } catch (error) {
      const told = started && !(error instanceof Unsure) ? new BatchFailed('', { cause: error }) : error
      for (const { reject } of batch) reject(told)
      // No connection was to be had: nor would those behind them get one.
      if (!started) for (const { reject } of this.#waiting.splice(0)) reject(error)
    }
  }
}

const batches = memory((hub) => new Batches(hub))

/** Whether a unit gains by being one statement: SQLite commits units that come at once together, whatever they do. */
export const isBatching = (hub: Hub): boolean => can(reader(hub)).autocommitBatches

/** `fallback`: the way of a unit whose batch failed, or whose rows others wait for; and of all where nothing is batched. */
export const runBatched = <U extends Unit, Done, Other>(
  hub: Hub,
  run: Batch<U, Done>,
  unit: U,
  fallback: () => Promise<Other>,
): Promise<Done | Other> => (isBatching(hub) ? batches(hub).run(run, unit, fallback) : fallback())

/** Work that would wait for a row with a connection of its own waits here instead; where commits are shared, it waits for nothing. */
export const runInTurn = <T>(hub: Hub, rows: readonly string[], work: () => Promise<T>): Promise<T> =>
  isBatching(hub) ? batches(hub).inTurn(rows, work) : work()
