/** The client of a worker thread, which answers questions one after the other. */
import { Worker } from 'node:worker_threads'
import { alarm, systemClock } from '../../base/clock.ts'
import { workerLimits } from '../../base/heap.ts'
import { shuttingDown, sqliteFault } from '../faults.ts'

/** From the thread. An error that crosses threads loses its code, unless that is sent as data. */
export type Answer =
  | { readonly id: number; readonly found: unknown }
  | { readonly id: number; readonly failed: { readonly message: string; readonly errcode: number | undefined } }

export type Asked<Question> = Question & { readonly id: number }

interface Waiting {
  readonly resolve: (found: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How long the thread has to come to its last question, or to close. */
const patienceMs = 500

interface WorkerOptions {
  /** So long after its last answer the thread ends, to be started anew; without it, it stays. */
  readonly restMs?: number
}

export class WorkerClient<Question extends object> {
  readonly #script: URL
  readonly #options: WorkerOptions
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  /** Questions of one turn go in one message: a search asks many parts of the index, and each message costs 75 µs. */
  #questions: Asked<Question>[] = []
  #asked = 0
  #closed = false
  #cancelRest = () => {}
  #ending: Promise<void> = Promise.resolve()

  constructor(script: URL, options: WorkerOptions = {}) {
    this.#script = script
    this.#options = options
  }

  async ask<Found>(question: Question): Promise<Found> {
    if (this.#closed) throw shuttingDown()
    const worker = this.#start()
    const id = ++this.#asked
    return new Promise<Found>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (found: unknown) => void, reject })
      worker.ref()
      if (this.#questions.push({ ...question, id }) > 1) return
      queueMicrotask(() => {
        const questions = this.#questions
        this.#questions = []
        this.#worker?.postMessage(questions)
      })
    })
  }

  /** A question that nobody waits for long: a thread that is in the midst of a query, which cannot be interrupted, ends with it. */
  async tellLast(question: Question): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const cancel = alarm(patienceMs, () => void worker.terminate())
    await this.ask(question).catch(() => {})
    cancel()
  }

  /** Questions that are open come to their end as errors. */
  async close(): Promise<void> {
    this.#closed = true
    this.#fail(shuttingDown())
    this.#end()
    await this.#ending
  }

  #end(): void {
    this.#cancelRest()
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    this.#ending = endOf(worker)
  }

  /** Started by the first question: many programs never ask one. */
  #start(): Worker {
    this.#cancelRest()
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(this.#script, { resourceLimits: workerLimits })
    worker.on('message', (answers: Answer[]) => {
      if (this.#worker === worker) for (const answer of answers) this.#settle(answer)
    })
    // The next question starts another. One that was told to end has no question left.
    const lost = (error: unknown) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#fail(error)
    }
    worker.on('error', lost)
    worker.on('exit', () => lost(new Error('The thread has ended.')))
    this.#worker = worker
    return worker
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#rest()
    if ('found' in answer) waiting?.resolve(answer.found)
    else {
      const { message, errcode } = answer.failed
      waiting?.reject(sqliteFault(Object.assign(new Error(message), errcode !== undefined && { errcode })))
    }
  }

  /** An idle thread does not keep the program alive. */
  #rest(): void {
    this.#worker?.unref()
    const { restMs } = this.#options
    if (restMs !== undefined) this.#cancelRest = systemClock.after(restMs, () => this.#end())
  }

  #fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

async function endOf(worker: Worker): Promise<void> {
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
