/** Notices that another process has committed to the same SQLite file. */
import type { FSWatcher } from 'node:fs'
import type { StatementSync } from 'node:sqlite'
import { every } from '../../base/clock.ts'
import type { Wake } from '../port.ts'
import type { SqliteBell } from './bell.ts'
import type { SqliteConnection } from './connection.ts'

/** For processes that ring no bell, and for what a death between commit and ring kept back. */
const safetyIntervalMs = 1_000

/** For file systems that report no changes. */
const pollIntervalMs = 50

export class SqliteWatch {
  readonly #bell: SqliteBell
  readonly #version: StatementSync
  readonly #wakes = new Set<Wake>()
  #seen: unknown
  #watcher: FSWatcher | undefined
  #stopLooking: (() => void) | undefined

  /** `connection` is the writing one: `data_version` does not move with a connection's own commits. */
  constructor(bell: SqliteBell, connection: SqliteConnection) {
    this.#bell = bell
    this.#version = connection.prepare('PRAGMA data_version')
  }

  add(wake: Wake): () => void {
    this.#wakes.add(wake)
    if (this.#stopLooking === undefined) this.#start()
    return () => {
      this.#wakes.delete(wake)
      if (this.#wakes.size === 0) this.close()
    }
  }

  close(): void {
    this.#wakes.clear()
    this.#watcher?.close()
    this.#watcher = undefined
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  #start(): void {
    this.#seen = this.#read()
    try {
      this.#watcher = this.#bell.watch(() => this.#look())
      this.#watcher.on('error', () => this.#lookEvery(pollIntervalMs))
      this.#lookEvery(safetyIntervalMs)
    } catch {
      this.#lookEvery(pollIntervalMs)
    }
  }

  #lookEvery(ms: number): void {
    this.#stopLooking?.()
    this.#stopLooking = every(ms, () => this.#look())
  }

  #look(): void {
    const version = this.#read()
    if (version === undefined || version === this.#seen) return
    this.#seen = version
    for (const wake of this.#wakes) wake(undefined)
  }

  #read(): unknown {
    try {
      return this.#version.get()?.data_version
    } catch {
      // Another process recovers or closes the file. There will be another look.
      return undefined
    }
  }
}
