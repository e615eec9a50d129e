/** Waiting for the disk after a COMMIT, and not inside of it. */
import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { Fault } from '../faults.ts'
import type { SqliteConnection } from './connection.ts'

/** Returns when what was written to an open file is on the disk. */
export type Flush = (handle: number) => void

/**
 * With `synchronous = FULL` SQLite waits for the disk while it holds the lock of the file, and every process that wants to
 * write waits with it: eight of them, a call each, get twice as much done this way. Whoever reads in between may see what a
 * power cut takes away, and nobody was told of yet. What anybody writes after it reaches the disk with it or not at all: the WAL
 * is one row of commits.
 */
export class SqliteDisk {
  readonly #connection: SqliteConnection
  readonly #wal: string
  readonly #flush: Flush
  #handle: number | undefined
  /** The system reports a failure once, and takes the same pages for written from then on. */
  #distrusted = false

  /** `connection` is the writing one. */
  constructor(connection: SqliteConnection, file: string, flush: Flush = fdatasyncSync) {
    this.#connection = connection
    this.#wal = `${file}-wal`
    this.#flush = flush
  }

  /** Returns when all that is committed will survive a power cut. Called between two transactions. */
  keep(): void {
    try {
      // Opened once: other connections keep it from being removed (place.ts looks whether it was all the same).
      this.#handle ??= openSync(this.#wal, 'r+')
      if (this.#distrusted) this.#moveAll()
      else this.#flush(this.#handle)
      this.#distrusted = false
    } catch (error) {
      this.#distrusted = true
      throw new Fault('unkept', error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Before the last connection, which removes the WAL. */
  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }

  /** Out of the WAL into the database file, which SQLite then flushes by itself. */
  #moveAll(): void {
    const [moved] = this.#connection.prepare('PRAGMA wal_checkpoint(FULL)').all()
    if (moved?.busy !== 0) throw new Error('The write-ahead log could not be moved: somebody reads from it.')
  }
}
