/** Calls to the server that have to get through: each is tried again with back-off while the server is away. */
import type { Clock } from '../../base/clock.ts'
import { HubError, kinds } from '../../base/errors.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { Backoff } from './backoff.ts'

export class Errands {
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #log: Log
  readonly #running = new Set<Promise<unknown>>()
  readonly #stop = new AbortController()

  constructor({ clock, ids, log }: { clock: Clock; ids: Ids; log: Log }) {
    this.#clock = clock
    this.#ids = ids
    this.#log = log
  }

  /** True once it got through; false if it was refused, or this process ends. Never rejects. */
  run(what: string, work: () => Promise<unknown>): Promise<boolean> {
    return this.hold(this.#insist(what, work))
  }

  /** Something else that this process waits for before it ends. */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    return work.finally(() => this.#running.delete(work))
  }

  /** Gives those that still run a moment to end, and then gives them up. */
  async close(graceMs: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#clock.after(graceMs, late.resolve)
    await Promise.race([this.#idle(), late.promise])
    cancel()
    this.#stop.abort()
  }

  /** One may begin another while it ends. */
  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running])
  }

  async #insist(what: string, work: () => Promise<unknown>): Promise<boolean> {
    const backoff = new Backoff(this.#ids)
    while (!this.#stop.signal.aborted) {
      try {
        await work()
        return true
      } catch (error) {
        if (!(error instanceof HubError && kinds[error.kind].retryable)) {
          this.#log.warn({ err: error }, `${what} was refused`)
          return false
        }
        this.#log.debug({ err: error }, `${what} did not get through yet`)
      }
      await this.#pause(backoff.next())
    }
    return false
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#clock.after(ms, resolve)
    this.#stop.signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(cancel)
  }
}
