/** Units that are one statement each: on PostgreSQL those that come while others are on their way go together, as one statement. */
import { Unsure } from '../../db/faults.ts'
import type { Tx } from '../../db/port.ts'
import { commit, itself, type Note } from './commit.ts'
import type { Hub } from './hub.ts'
import { memory } from './memory.ts'

/** So many at a time: twice as many are no cheaper each, and hold their rows for longer. */
const unitsPerGroup = 32

/** One is on its way to the disk while the other is worked on. */
const groupsAtOnce = 2

/** Something to be done, and the names of the rows that it locks. */
export interface Locking {
  readonly rows: readonly string[]
}

export interface Kind<Unit extends Locking, Done> {
  /** Does all of them in one statement that commits itself; an answer for each. */
  run(tx: Tx, note: Note, units: readonly Unit[]): Promise<readonly Done[]>
  /** Whether several units of one statement may want the same row. If not, whoever comes for a row that another waits for goes by itself. */
  readonly sharing: boolean
}

interface Waiting {
  /** Units meet those of their own kind only. */
  readonly kind: Kind<Locking, unknown>
  readonly unit: Locking
  readonly resolve: (done: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A group failed, and nothing of it is saved: each of its units is to be done by itself, and fails alone if it has to. */
class GroupFailed extends Error {}

class Gathering {
  readonly #hub: Hub
  #waiting: Waiting[] = []
  #groups = 0
  /** The rows of groups on their way: another group would wait for their commit, with all that it has locked itself. */
  readonly #locked = new Set<string>()
  /** The rows of units of a kind that does not share, until they are done. */
  readonly #taken = new Set<string>()
  /** Units of groups that failed, until they have come to their end by themselves. */
  readonly #stuck = new Set<Locking>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  async run<Unit extends Locking, Done, Other>(
    kind: Kind<Unit, Done>,
    unit: Unit,
    byItself: () => Promise<Other>,
  ): Promise<Done | Other> {
    const own = kind.sharing ? [] : unit.rows
    if (this.#isStuck(unit) || own.some((row) => this.#taken.has(row))) return byItself()
    for (const row of own) this.#taken.add(row)
    try {
      return await new Promise<Done>((resolve, reject) => {
        // `resolve` is called with an answer of this kind, and with nothing else.
        this.#waiting.push({ kind, unit, resolve: resolve as (done: unknown) => void, reject })
        this.#start()
      })
    } catch (error) {
      if (!(error instanceof GroupFailed)) throw error
    } finally {
      for (const row of own) this.#taken.delete(row)
    }
    this.#stuck.add(unit)
    try {
      return await byItself()
    } finally {
      this.#stuck.delete(unit)
    }
  }

  /** A row that somebody holds for long would fail every group. */
  #isStuck({ rows }: Locking): boolean {
    for (const stuck of this.#stuck) if (stuck.rows.some((row) => rows.includes(row))) return true
    return false
  }

  #start(): void {
    if (this.#stuck.size > 0) this.#part()
    while (this.#groups < groupsAtOnce) {
      const group = this.#next()
      const [first] = group
      if (first === undefined) return
      this.#groups++
      const goOn = () => {
        this.#groups--
        for (const { unit } of group) for (const row of unit.rows) this.#locked.delete(row)
        this.#start()
      }
      void this.#carry(first.kind, group).then(goOn, goOn)
    }
  }

  /** Sends those away who wait for a row that is stuck: each is done by itself. */
  #part(): void {
    const stuck = this.#waiting.filter(({ unit }) => this.#isStuck(unit))
    if (stuck.length === 0) return
    this.#waiting = this.#waiting.filter((one) => !stuck.includes(one))
    for (const { reject } of stuck) reject(new GroupFailed())
  }

  /** Those of a kind that came first. One whose rows are locked waits, and so do all who came later for the same rows. */
  #next(): Waiting[] {
    const group: Waiting[] = []
    const left: Waiting[] = []
    const passedOver = new Set<string>()
    for (const one of this.#waiting) {
      const { rows } = one.unit
      const { kind } = group[0] ?? one
      const free = !rows.some((row) => this.#locked.has(row) || passedOver.has(row))
      const goes = free && one.kind === kind && group.length < unitsPerGroup
      if (goes) group.push(one)
      else left.push(one)
      if (!goes || !kind.sharing) for (const row of rows) passedOver.add(row)
    }
    this.#waiting = left
    for (const { unit } of group) for (const row of unit.rows) this.#locked.add(row)
    return group
  }

  async #carry(kind: Kind<Locking, unknown>, group: readonly Waiting[]): Promise<void> {
    const units = group.map(({ unit }) => unit)
    let started = false
    try {
      const done = await commit(this.#hub, itself, (tx, note) => {
        started = true
        return kind.run(tx, note, units)
      })
      for (const [n, { resolve }] of group.entries()) resolve(done[n])
    } catch (error) {
      const told = started && !(error instanceof Unsure) ? new GroupFailed('', { cause: error }) : error
      for (const { reject } of group) reject(told)
      // No connection was to be had: nor would those behind them get one.
      if (!started) for (const { reject } of this.#waiting.splice(0)) reject(error)
    }
  }
}

const gathering = memory((hub) => new Gathering(hub))

/** `byItself`: the way of a unit whose group failed, or whose rows others wait for. */
export const together = <Unit extends Locking, Done, Other>(
  hub: Hub,
  kind: Kind<Unit, Done>,
  unit: Unit,
  byItself: () => Promise<Other>,
): Promise<Done | Other> => gathering(hub).run(kind, unit, byItself)
