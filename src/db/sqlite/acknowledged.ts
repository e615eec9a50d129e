/** The number of the last acknowledged change, kept beside a SQLite file: by it a start knows what the file has lost. */
import { closeSync, constants, fsyncSync, openSync, readFileSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { StatementSync } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'
import type { SqliteConnection } from './connection.ts'

/**
 * Each number is written to a slot of its own, its remainder, and the highest of all counts. Of processes that write at once
 * each has another number, and hence another slot: none takes the place of a higher one, and no lock is needed. Only one that
 * stopped between its flush and its write comes late to a slot in use, and it looks before it writes. A number that stands in
 * the wrong slot is damage, and does not count.
 */
const slots = 256

/** Digits and a line end: a person can read the file, too. */
const slotBytes = 16

export const acknowledgedFile = (file: string): string => `${file}-acknowledged`

export interface Acknowledged {
  readonly number: number
  /** When that was, in milliseconds. */
  readonly at: number
}

/** Undefined where none is kept: for a store that is new, or was made by an older Parley. */
export function readAcknowledged(file: string): Acknowledged | undefined {
  const path = acknowledgedFile(file)
  const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  if (at === undefined) return undefined
  const text = readFileSync(path, 'latin1')
  const numbers = Array.from({ length: slots }, (_, slot) => numberIn(text.slice(slot * slotBytes), slot))
  const number = Math.max(...numbers)
  return number === 0 ? undefined : { number, at }
}

/**
 * For a store that begins anew: restored, or gone on with after a loss. The folder is flushed: a number that a power cut
 * brings back would be told as a loss of changes that the new store never had.
 */
export function forgetAcknowledged(file: string): void {
  rmSync(acknowledgedFile(file), { force: true })
  // Windows opens no folders, and writes such changes through.
  if (process.platform === 'win32') return
  const folder = openSync(dirname(resolve(file)), constants.O_RDONLY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function numberIn(text: string, slot: number): number {
  const number = /^\d{15}\n/.test(text) ? Number.parseInt(text, 10) : 0
  return number % slots === slot ? number : 0
}

/** Of one process. It is not flushed itself: after a power cut it is behind what is durable, and never ahead of it. */
export class AcknowledgedNumber {
  readonly #file: string
  readonly #connection: SqliteConnection
  readonly #query: Sql
  #statement: StatementSync | undefined
  #handle: number | undefined
  #written = 0
  readonly #found = Buffer.alloc(slotBytes)

  /** `query` finds the number of the last change as `id`. */
  constructor(file: string, connection: SqliteConnection, query: Sql) {
    this.#file = file
    this.#connection = connection
    this.#query = query
  }

  /** The last change, that of the transaction or an older one: asked before its COMMIT, and hence before the flush. */
  last(): number {
    try {
      this.#statement ??= this.#connection.prepare(this.#query.sql)
      return Number(this.#statement.get()?.id ?? 0)
    } catch {
      // A new store has no tables yet.
      return 0
    }
  }

  /** After the flush. */
  write(number: number): void {
    if (number <= this.#written) return
    try {
      this.#handle ??= openLike(this.#file)
      const slot = number % slots
      readSync(this.#handle, this.#found, 0, slotBytes, slot * slotBytes)
      if (numberIn(this.#found.toString('latin1'), slot) < number)
        writeSync(this.#handle, `${String(number).padStart(slotBytes - 1, '0')}\n`, slot * slotBytes)
      this.#written = number
    } catch {
      // A full disk, for one. The change stands; that less is known of it after a loss is no reason to refuse it.
    }
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }
}

/** The same permissions as the database: a user who may write the database may write this file. */
function openLike(file: string): number {
  const { mode } = statSync(file)
  return openSync(acknowledgedFile(file), constants.O_RDWR | constants.O_CREAT, mode & 0o777)
}
