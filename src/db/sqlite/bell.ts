/** The bell beside a SQLite file: rung after each commit, heard by the other processes that have the file open. */
import { closeSync, constants, type FSWatcher, openSync, statSync, watch, writeSync } from 'node:fs'

const oneByte = Buffer.from('.')

/**
 * A commit writes the WAL in many pieces, and all before it can be seen: who watches that file hears too much, and too early
 * (302 of 302 first looks). One byte written over and over to a file of its own is one event, when the commit is there.
 */
export class SqliteBell {
  readonly #path: string
  readonly #handle: number | undefined

  constructor(file: string) {
    this.#path = `${file}-bell`
    try {
      // Whoever may write the database may ring.
      const { mode } = statSync(file)
      this.#handle = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, mode & 0o777)
    } catch {
      // Others look now and then anyway.
      this.#handle = undefined
    }
  }

  ring(): void {
    if (this.#handle === undefined) return
    try {
      writeSync(this.#handle, oneByte, 0, 1, 0)
    } catch {
      // A full disk, for one. The commit stands; others see it with their next look.
    }
  }

  /** Calls `heard` whenever it rings, by this process too. Throws where the file cannot be watched. */
  watch(heard: () => void): FSWatcher {
    return watch(this.#path, { persistent: false }, heard)
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
  }
}
