/** Reads that take long, in a thread of their own: the event loop of the program stays free meanwhile. */

import { Worker } from 'node:worker_threads'
import type { Sql } from 'sql-template-tag'
import { alarm } from '../../base/clock.ts'
import { moduleBeside } from '../../base/modules.ts'
import { shuttingDown, sqliteFault } from '../faults.ts'
import type { LongReader } from '../port.ts'
import { CallingSql } from './calling.ts'

/** To the thread: a query, with the module of one that calls functions, or a module that looks for itself. */
export type Question = { readonly id: number } & (Query | { readonly module: string; readonly wish: unknown })

export interface Query {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  readonly module: string | undefined
}

/** From the thread. An error that crosses threads loses its code, unless that is sent as data. */
export type Answer =
  | { readonly id: number; readonly found: unknown }
  | { readonly id: number; readonly failed: { readonly message: string; readonly errcode: number | undefined } }

interface Waiting {
  readonly resolve: (found: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How long the thread has to close its connection. */
const patienceMs = 500

const script = moduleBeside(import.meta.url, 'long-reads-thread')

/** Twenty rows cost 220 µs by this way instead of 17: it is for reads that may take milliseconds. */
export class LongReads implements LongReader {
  readonly dialect = 'sqlite'
  readonly #file: string
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  /** What is asked in one turn goes in one message: a search asks many parts of the index, and each message costs 75 µs. */
  #questions: Question[] = []
  #asked = 0
  #closed = false

  constructor(file: string) {
    this.#file = file
  }

  all<Row>(query: Sql): Promise<Row[]> {
    const module = query instanceof CallingSql ? query.module : undefined
    return this.#ask((id) => ({ id, strings: query.strings, values: query.values, module }))
  }

  look<Answer>(module: URL, wish: unknown): Promise<Answer> {
    return this.#ask((id) => ({ id, module: module.href, wish }))
  }

  async #ask<Found>(question: (id: number) => Question): Promise<Found> {
    if (this.#closed) throw shuttingDown()
    const worker = this.#start()
    const id = ++this.#asked
    return new Promise<Found>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (found: unknown) => void, reject })
      worker.ref()
      if (this.#questions.push(question(id)) > 1) return
      queueMicrotask(() => {
        const questions = this.#questions
        this.#questions = []
        this.#worker?.postMessage(questions)
      })
    })
  }

  /**
   * Reads that run come to their end as errors: nobody waits for a search that takes long when the program stops. The thread
   * itself closes its connection, if it can be heard: then the one that is closed after it is the last, and removes the WAL.
   */
  async close(): Promise<void> {
    this.#closed = true
    this.#fail(shuttingDown())
    const worker = this.#worker
    if (worker === undefined) return
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.ref()
    worker.postMessage('close')
    // A query that runs cannot be interrupted; the thread ends with it.
    const cancel = alarm(patienceMs, () => {
      worker.unref()
      void worker.terminate()
      resolve()
    })
    await gone
    cancel()
  }

  /** Started by the first question: many programs never ask one. */
  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(script, { workerData: this.#file })
    worker.on('message', (answers: Answer[]) => {
      for (const answer of answers) this.#settle(answer)
    })
    // The next question starts another.
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#fail(shuttingDown())
    })
    this.#worker = worker
    return worker
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    // An idle thread does not keep the program alive.
    if (this.#waiting.size === 0) this.#worker?.unref()
    if ('found' in answer) waiting?.resolve(answer.found)
    else {
      const { message, errcode } = answer.failed
      waiting?.reject(sqliteFault(Object.assign(new Error(message), errcode !== undefined && { errcode })))
    }
  }

  #fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
