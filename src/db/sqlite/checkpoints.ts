/** Moves the WAL into the database file from a thread: in the writing connection it would hold up everybody for tens of milliseconds. */
import sql from 'sql-template-tag'
import type { Reader } from '../port.ts'

/**
 * A commit counts for 7 and one more for each unit: a checkpoint comes after 275 messages alone, which are 2,000 pages, or
 * after 31 groups of 64, which are 5,000. Only where many processes write at once may SQLite have to make one itself (sqlite.ts).
 */
const commitWeight = 7
const weightPerCheckpoint = 2_200

export class Checkpoints {
  readonly #thread: Reader
  #weight = 0
  #running = false

  constructor(thread: Reader) {
    this.#thread = thread
  }

  /**
   * Told after each COMMIT. A program that writes little never starts the thread: SQLite checkpoints when it
   * closes the file.
   */
  noteCommit(units: number): void {
    this.#weight += commitWeight + units
    if (this.#weight < weightPerCheckpoint || this.#running) return
    this.#weight = 0
    this.#running = true
    // It waits for nobody: what a reader still needs stays in the WAL until the next one.
    const done = () => {
      this.#running = false
    }
    this.#thread.all(sql`PRAGMA wal_checkpoint(PASSIVE)`).then(done, done)
  }
}
