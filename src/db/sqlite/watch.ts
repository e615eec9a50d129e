/** Notices that another process has committed to the same SQLite file. */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { StatementSync } from 'node:sqlite'
import { every, systemClock } from '../../base/clock.ts'
import type { Wake } from '../port.ts'
import type { SqliteConnection } from './connection.ts'

/** For file systems that report no changes; the second one if there is nothing else. */
const safetyIntervalMs = 1_000
const pollIntervalMs = 50

/**
 * A change of the -wal file is seen before the commit in it is visible: the first look came too early in 302 of 302
 * events. Hence an event starts a series of looks, ever further apart, which outlasts a slow fsync.
 */
const firstPauseMs = 1
const longestPauseMs = 500
const growth = 1.25

export class SqliteWatch {
  readonly #folder: string
  readonly #walName: string
  readonly #version: StatementSync
  readonly #wakes = new Set<Wake>()
  #seen: unknown
  #watcher: FSWatcher | undefined
  #stopLooking: (() => void) | undefined
  #cancelNext: (() => void) | undefined
  #pauseMs = firstPauseMs

  /** `connection` is the writing one: `data_version` does not move with a connection's own commits. */
  constructor(file: string, connection: SqliteConnection) {
    this.#folder = dirname(file)
    this.#walName = `${basename(file)}-wal`
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
    this.#cancelNext?.()
    this.#cancelNext = undefined
  }

  #start(): void {
    this.#seen = this.#read()
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_event, name) => {
        if (name === this.#walName) this.#restart()
      })
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

  /** Our own commits come by here too: a series that runs goes on from its start, it does not begin another. */
  #restart(): void {
    const late = this.#pauseMs >= 2 * firstPauseMs
    this.#pauseMs = firstPauseMs
    if (this.#cancelNext !== undefined && !late) return
    this.#cancelNext?.()
    this.#look()
    this.#schedule()
  }

  #schedule(): void {
    this.#cancelNext = systemClock.after(this.#pauseMs, () => {
      this.#look()
      this.#pauseMs *= growth
      if (this.#pauseMs <= longestPauseMs) this.#schedule()
      else this.#cancelNext = undefined
    })
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
