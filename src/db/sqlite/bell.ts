/** The bell beside a SQLite file: rung after each commit, heard by the other processes that have the file open. */
import { closeSync, constants, type FSWatcher, openSync, statSync, watch, writeSync } from 'node:fs'

const oneByte = Buffer.from('.')

/**
 * A commit writes the WAL in many pieces, and all before it can be seen: who watches that file hears too much, and too early
 * (302 of 302 first looks). One byte written over and over to a file of its own is one event, when the commit is there.
 */
export class SqliteBell {
  readonly #file: string
  readonly #path: string
  /** Undefined where it cannot be opened: others look now and then anyway. */
  #handle: number | undefined
  #opened = false

  constructor(file: string) {
    this.#file = file
    this.#path = `${file}-bell`
  }

  ring(): void {
    const handle = this.#open()
    if (handle === undefined) return
    try {
      writeSync(handle, oneByte, 0, 1, 0)
    } catch {
      // A full disk, for one. The commit stands; others see it with their next look.
    }
  }

  /** Calls `heard` whenever it rings, by this process too. Throws where the file cannot be watched. */
  watch(heard: () => void): FSWatcher {
    this.#open()
    return watch(this.#path, { persistent: false }, heard)
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }

  /** When it is first needed: a file that is refused is left without one. Whoever may write the database may ring. */
  #open(): number | undefined {
    if (this.#opened) return this.#handle
    this.#opened = true
    try {
      const { mode } = statSync(this.#file)
      this.#handle = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, mode & 0o777)
    } catch {
      this.#handle = undefined
    }
    return this.#handle
  }
}
