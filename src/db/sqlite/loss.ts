/** Finds acknowledged changes that a SQLite file has lost, before anything opens the file for writing. */
import { existsSync } from 'node:fs'
import type { Sql } from 'sql-template-tag'
import { isSqliteCode, isSqliteUnreadable, sqliteFault } from '../faults.ts'
import { type Acknowledged, readAcknowledged } from './acknowledged.ts'
import { lookAt, sizeOf } from './open-untouched.ts'
import { refuseForeign } from './owner.ts'

/**
 *   the file            its number beside it     what a start finds
 *   absent or empty     none                     new      ── opened, and made
 *   absent or empty     n                        lost     all up to n
 *   empty, with a log   none                     lost     SQLite would delete the log
 *   unreadable          none                     refused  perhaps it is somebody else's (owner.ts)
 *   unreadable          n                        lost     it was Parley's
 *   ends with m ≥ n     n                        whole    ── opened
 *   ends with m < n     n                        lost     m + 1 up to n
 *   with changes        none                     whole    ── opened: of an older Parley, or just restored
 *
 *   lost ── refused; a person puts the file back, restores a backup, or accepts the loss: the number is forgotten
 *
 * Every opening of the store checks this. Writers move the number, after each flush.
 */
export interface Loss {
  readonly acknowledged: Acknowledged | undefined
  readonly state: 'absent' | 'empty' | 'unreadable' | 'behind'
  /** The last change that is there. */
  readonly last?: LastChange | undefined
  /** Why SQLite cannot read the file, in its words. */
  readonly why?: string
}

interface LastChange {
  readonly id: number
  readonly at: number
}

/** `query` finds the last change, as `id` and `at`. */
export function findLoss(file: string, query: Sql): Loss | undefined {
  // Read before the file: what is acknowledged in between is no loss.
  const acknowledged = readAcknowledged(file)
  if (sizeOf(file) === 0) {
    const known = acknowledged !== undefined || sizeOf(`${file}-wal`) > 0
    return known ? { acknowledged, state: existsSync(file) ? 'empty' : 'absent' } : undefined
  }
  if (acknowledged === undefined) return undefined
  try {
    const last = lastChange(file, query)
    return (last?.id ?? 0) < acknowledged.number ? { acknowledged, state: 'behind', last } : undefined
  } catch (error) {
    if (isSqliteUnreadable(error)) return { acknowledged, state: 'unreadable', why: (error as Error).message }
    throw sqliteFault(error)
  }
}

/** The code of SQLite for a statement that cannot be: there is no such table. */
const wrongStatement = 1

function lastChange(file: string, query: Sql): LastChange | undefined {
  try {
    return lookAt(file, (db) => db.prepare(query.sql).get()) as LastChange | undefined
  } catch (error) {
    if (!isSqliteCode(error, wrongStatement)) throw error
    refuseForeign(file)
    return undefined
  }
}
