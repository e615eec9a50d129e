/** Waits for the disk after a COMMIT, not inside it, and stops all writing once the disk has failed. */
import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { Fault } from '../faults.ts'

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

/**
 * With `synchronous = FULL` SQLite waits for the disk while it holds the lock of the file, and every process that wants to
 * write waits with it: eight of them, a call each, get twice as much done this way. Who only reads may see, for parts of a
 * millisecond, what a power cut takes away and nobody was told of yet. A flush is that of the whole log: whoever is told of
 * anything in a transaction, if only that it was there already, has it on the disk with all that came before.
 */
export class SqliteDisk {
  readonly #flush: Flush
  readonly #log: number
  #failure: Error | undefined

  /** A connection has read: that makes the log, which is not removed while it is open (place.ts). */
  constructor(file: string, flush: Flush = flushed) {
    this.#flush = flush
    this.#log = openSync(`${file}-wal`, 'r+')
  }

  /** Returns when all that is committed, by others too, will survive a power cut. Called between two transactions. */
  flush(): void {
    try {
      this.#flush(this.#log)
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error))
      throw new Fault('unflushed', this.#failure)
    }
  }

  /**
   * Throws once a flush has failed, until the process ends. The system reports the failure once and takes the lost pages for
   * written from then on: a later flush would succeed, and a power cut could still take what it acknowledged. PostgreSQL panics
   * for the same reason. When the last process closes the file, SQLite moves the log into it.
   */
  check(): void {
    if (this.#failure !== undefined) throw new Fault('halted', this.#failure)
  }

  /** Before the last connection, which removes the log. */
  close(): void {
    closeSync(this.#log)
  }
}
