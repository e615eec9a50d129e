/** Calls to the server that must not be lost: each is tried again with back-off while the server is away. */
import type { Clock } from '../../base/clock.ts'
import { HubError, kinds } from '../../base/errors.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { Backoff } from './backoff.ts'

interface Parts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}

export class Retries {
  readonly #parts: Parts
  readonly #running = new Set<Promise<unknown>>()
  readonly #stop = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True once the call got through; false if it was refused, or this process ends. Never rejects. */
  run(name: string, work: () => Promise<unknown>): Promise<boolean> {
    return this.hold(this.#untilDone(name, work))
  }

  /** Other work that this process finishes before it ends. */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    return work.finally(() => this.#running.delete(work))
  }

  /** Gives the running calls a moment to end, then abandons them. */
  async close(graceMs: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#parts.clock.after(graceMs, late.resolve)
    await Promise.race([this.#idle(), late.promise])
    cancel()
    this.#stop.abort()
  }

  /** One may begin another while it ends. */
  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running])
  }

  async #untilDone(name: string, work: () => Promise<unknown>): Promise<boolean> {
    const { ids, log } = this.#parts
    const backoff = new Backoff(ids)
    while (!this.#stop.signal.aborted) {
      try {
        await work()
        return true
      } catch (error) {
        if (!(error instanceof HubError && kinds[error.kind].retryable)) {
          log.warn({ err: error }, `${name} was refused`)
          return false
        }
        log.debug({ err: error }, `${name} failed and is tried again`)
      }
      await this.#pause(backoff.next())
    }
    return false
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#parts.clock.after(ms, resolve)
    this.#stop.signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(cancel)
  }
}
