/** Moves the WAL into the database file from a thread: in the writing connection it would hold up everybody for tens of milliseconds. */
import sql from 'sql-template-tag'
import type { Reader } from '../port.ts'

/** Some 5,000 pages where 64 sends share a commit. */
const groupsPerCheckpoint = 32

export class Checkpoints {
  readonly #thread: Reader
  #groups = 0
  #running = false

  constructor(thread: Reader) {
    this.#thread = thread
  }

  /** Told after each COMMIT. A program that writes little never starts the thread: SQLite checkpoints when it closes the file. */
  noteCommit(): void {
    this.#groups++
    if (this.#groups < groupsPerCheckpoint || this.#running) return
    this.#groups = 0
    this.#running = true
    // It waits for nobody: what a reader still needs stays in the WAL until the next one.
    const done = () => {
      this.#running = false
    }
    this.#thread.all(sql`PRAGMA wal_checkpoint(PASSIVE)`).then(done, done)
  }
}
