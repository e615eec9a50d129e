/** Trouble of the storage: told to every caller in the same words, to the log once, and to whoever asks if the hub is ready. */
import { every } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { Fault, type FaultKind } from '../../db/faults.ts'
import { type Db, type Reader, readingBy } from '../../db/port.ts'

const damaged = 'The database is damaged.'

const sentences: Readonly<Partial<Record<FaultKind, readonly [message: string, hint: string]>>> = {
  full: [
    'The disk is full: nothing can be stored.',
    'Nothing was stored. The operator must free disk space; then send again.',
  ],
  readonly: ['The database can only be read.', 'The operator must make the database file writable.'],
  io: ['The database cannot be read or written.', 'The server log has the cause.'],
  corrupt: [damaged, 'The operator must restore a backup.'],
  unflushed: [
    'The disk failed after the commit: the work is there, but may be lost if the power goes.',
    'Check whether it is stored before you try again. The operator must check the disk and restart Parley.',
  ],
  halted: [
    'Nothing can be stored since the disk failed to take a commit.',
    'Nothing was stored. The operator must check the disk and restart Parley; then send again.',
  ],
  gone: [
    'The file of the database was deleted or replaced while Parley ran.',
    'Treat the message as not stored. The operator must put the file back, or restart Parley.',
  ],
}

const lookMs = 1_000

export class Trouble {
  readonly #db: Db
  readonly #log: Log
  /** Of the last write or read, until a write succeeds. */
  #last: HubError | undefined
  /** The trouble last logged, until a look finds all well. */
  #told: string | undefined
  readonly #stop: () => void

  constructor(db: Db, log: Log) {
    this.#db = db
    this.#log = log
    this.#stop = every(lookMs, () => void this.#look())
  }

  /** The error as callers are told of it. One of the storage's own makes the hub not ready. */
  explain(error: unknown): unknown {
    const trouble = troubleOf(error)
    if (trouble === undefined) return error
    this.#last = trouble
    this.#tell(trouble)
    return trouble
  }

  /** A write succeeded. */
  over(): void {
    this.#last = undefined
  }

  /** Rejects while something stands in the way of writes. */
  async check(): Promise<void> {
    if (this.#last !== undefined) throw this.#last
    await this.#db.check()
  }

  close(): void {
    this.#stop()
  }

  /** Never rejects: what it finds is told. */
  async #look(): Promise<void> {
    try {
      await this.#db.check()
      // Where a balancer sends nobody to a node that is not ready, no write of others would ever end the trouble.
      if (this.#last !== undefined) {
        await this.#db.tx(async () => {})
        this.over()
      }
      // A look sees no damage, and damage does not go away.
      if (this.#told !== damaged) this.#told = undefined
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble !== undefined) this.#tell(trouble)
    }
  }

  #tell(trouble: HubError): void {
    if (this.#told === trouble.message) return
    this.#told = trouble.message
    this.#log.error({ err: trouble, event: 'storage_failed' }, trouble.message)
  }
}

function troubleOf(error: unknown): HubError | undefined {
  const sentence = error instanceof Fault ? sentences[error.kind] : undefined
  return sentence && new HubError('STORAGE_FAILED', sentence[0], { hint: sentence[1], cause: error })
}

/** A damaged file is the same trouble to readers as to writers. */
export const explained = (db: Reader, trouble: Trouble): Reader =>
  readingBy(db, async (query) => {
    try {
      return await db.all(query)
    } catch (error) {
      throw trouble.explain(error)
    }
  })
