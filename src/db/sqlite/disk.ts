/** Waiting for the disk after a COMMIT, and not inside of it. */
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { Fault } from '../faults.ts'
import type { SqliteConnection } from './connection.ts'

/**
 * On macOS Node's flush empties the cache of the disk itself, which takes many milliseconds; SQLite's does not, unless it is
 * asked to. There it stays with SQLite.
 */
const flushesInCommit = process.platform === 'darwin'

/** That of every connection that writes. With NORMAL a COMMIT is in the hands of the system, and outlives the process. */
export const synchronous = flushesInCommit ? 'FULL' : 'NORMAL'

/** Returns when what was written to an open file is on the disk. */
export type Flush = (handle: number) => void

const flushed: Flush = (handle) => {
  if (!flushesInCommit) fdatasyncSync(handle)
}

/** How long those who write are waited for, when the log is written once more. */
const patienceMs = 1_000

const pieceBytes = 1024 * 1024

/**
 * With `synchronous = FULL` SQLite waits for the disk while it holds the lock of the file, and every process that wants to
 * write waits with it: eight of them, a call each, get twice as much done this way. Who only reads may see, for parts of a
 * millisecond, what a power cut takes away and nobody was told of yet. A flush is that of the whole log: whoever is told of
 * anything in a transaction, if only that it was there already, has it on the disk with all that came before.
 */
export class SqliteDisk {
  readonly #connection: SqliteConnection
  readonly #flush: Flush
  readonly #log: number
  /** A flush failed. The system reports that once, and takes the same pages for written from then on. */
  #doubted = false

  /** `connection` is the writing one. It has read: that makes the log, which is not removed while it is open (place.ts). */
  constructor(connection: SqliteConnection, file: string, flush: Flush = flushed) {
    this.#connection = connection
    this.#flush = flush
    this.#log = openSync(`${file}-wal`, 'r+')
  }

  /** Returns when all that is committed, by others too, will survive a power cut. Called between two transactions. */
  keep(): void {
    for (let last = false; ; last = true) {
      try {
        if (this.#doubted) this.#writeAgain()
        this.#flush(this.#log)
        this.#doubted = false
        return
      } catch (error) {
        this.#doubted = true
        if (last) throw new Fault('unkept', error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  /** Before the last connection, which removes the log. */
  close(): void {
    closeSync(this.#log)
  }

  /**
   * What the system wrongly takes for written is written once more, under the lock: nobody adds to the log meanwhile or begins
   * it anew. To move it into the database file instead would leave a hole in the log, where a recovery ends.
   */
  #writeAgain(): void {
    this.#connection.pragma(`busy_timeout = ${patienceMs}`)
    try {
      this.#connection.prepare('BEGIN IMMEDIATE').run()
      const piece = Buffer.alloc(pieceBytes)
      for (let at = 0, length = -1; length !== 0; ) {
        length = readSync(this.#log, piece, 0, pieceBytes, at)
        at += writeSync(this.#log, piece, 0, length, at)
      }
    } finally {
      if (this.#connection.inTransaction) this.#connection.prepare('ROLLBACK').run()
      this.#connection.pragma('busy_timeout = 0')
    }
  }
}
