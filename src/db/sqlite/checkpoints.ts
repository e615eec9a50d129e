/** Moves the WAL into the database file from a thread: in the writing connection it would hold up everybody for tens of milliseconds. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import sql, { raw } from 'sql-template-tag'
import type { Reader } from '../port.ts'
import { readTimeoutMs, type SqliteConnection } from './connection.ts'

/** Commits wait for the same disk meanwhile: 2,000 pages are 8 MB. */
const pagesPerCheckpoint = 2_000

/** The weight of a commit, where each of its units weighs 1. The last checkpoint tells how many pages one weight came to. */
const commitWeight = 7
const usualPages = 1

/** Groups of 64 sends share pages. So many of them are moved at once, rather than each few groups. */
const leastPages = 0.4

/**
 * A WAL begins anew only after all of it was moved, and while somebody writes all the time there is always a rest. Past this
 * many pages the writer waits for it: in the thread, and not until SQLite makes it do the work itself (sqlite.ts).
 */
const mostPages = 8_000

/** How long that one waits for the writer, and for a reader that came in between, while writers wait for it. */
const patienceMs = 20

/**
 * A WAL that grew during a long read is cut back to this, a little whenever it begins anew: to cut off 110 MB held up one
 * commit for 60 to 160 ms, and 4 MB for 4 ms.
 */
const usualBytes = 64 * 1024 * 1024
const cutBytes = 4 * 1024 * 1024

interface Moved {
  /** Pages of the WAL, and how many of them are in the database file by now. */
  readonly log: number
  readonly checkpointed: number
}

export class Checkpoints {
  readonly #file: string
  readonly #writing: SqliteConnection
  readonly #thread: Reader
  #weight = 0
  #running = false
  #pagesPerWeight = usualPages
  /** How long the WAL was after the last checkpoint, and which one it was. */
  #seen = { pages: 0, generation: 0 }

  constructor({ file, writing, thread }: { file: string; writing: SqliteConnection; thread: Reader }) {
    this.#file = file
    this.#writing = writing
    this.#thread = thread
    this.#limit(0)
  }

  /**
   * Told after each COMMIT. A program that writes little never starts the thread: SQLite checkpoints when it
   * closes the file.
   */
  noteCommit(units: number): void {
    this.#weight += commitWeight + units
    if (this.#weight * this.#pagesPerWeight < pagesPerCheckpoint || this.#running) return
    const weight = this.#weight
    this.#weight = 0
    this.#running = true
    const done = () => {
      this.#running = false
    }
    this.#checkpoint(weight).then(done, done)
  }

  /** It waits for nobody: what a reader still needs stays in the WAL until the next one. */
  async #checkpoint(weight: number): Promise<void> {
    const [moved] = await this.#thread.all<Moved>(sql`PRAGMA wal_checkpoint(PASSIVE)`)
    if (moved === undefined || moved.log < 0) return
    this.#learn(weight, moved.log)
    if (moved.log < mostPages || moved.checkpointed < moved.log) return
    // All in one turn, and so one after the other. No reader was in the way just now, or all would not have been moved.
    await Promise.all([
      this.#thread.all(sql`PRAGMA busy_timeout = ${raw(String(patienceMs))}`),
      this.#thread.all(sql`PRAGMA wal_checkpoint(FULL)`),
      this.#thread.all(sql`PRAGMA busy_timeout = ${raw(String(readTimeoutMs))}`),
    ])
    this.#weight = 0
  }

  /** A step of indexing writes four times the pages of a send: what they came to last time is expected of the next. */
  #learn(weight: number, log: number): void {
    const { generation, bytes } = this.#look()
    this.#limit(bytes)
    const pages = generation === this.#seen.generation ? log - this.#seen.pages : log
    this.#seen = { pages: log, generation }
    this.#pagesPerWeight = Math.max(pages / weight, this.#pagesPerWeight / 2, leastPages)
  }

  /** How long the WAL may be after it begins anew. */
  #limit(bytes: number): void {
    this.#writing.pragma(`journal_size_limit = ${Math.max(bytes - cutBytes, usualBytes)}`)
  }

  /** SQLite counts how often the WAL began anew, in its header: https://www.sqlite.org/fileformat2.html#walformat */
  #look(): { generation: number; bytes: number } {
    const handle = openSync(`${this.#file}-wal`, 'r')
    try {
      const counter = Buffer.alloc(4)
      readSync(handle, counter, 0, 4, 12)
      return { generation: counter.readUInt32BE(), bytes: fstatSync(handle).size }
    } finally {
      closeSync(handle)
    }
  }
}
