/** Wrong keys, counted for each address: past a limit they are told to come back later. Good keys are never held up. */
import type { Clock } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'

const windowMs = 60_000
/** Whoever is forgotten begins anew. */
const mostAddresses = 10_000

export class WrongKeys {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #seen = new Map<string, { count: number; since: number }>()

  /** 0 is no limit. */
  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** The answer to a request whose credentials were not good: the error itself, or that there were too many of them. */
  judge(error: unknown, address = ''): unknown {
    if (this.#perMinute === 0 || !(error instanceof HubError) || error.code !== 'UNAUTHENTICATED') return error
    const now = this.#clock.monotonic()
    const before = this.#seen.get(address)
    const entry = before !== undefined && now - before.since < windowMs ? before : { count: 0, since: now }
    entry.count++
    if (before !== entry) {
      if (this.#seen.size >= mostAddresses) this.#seen.clear()
      this.#seen.set(address, entry)
    }
    if (entry.count <= this.#perMinute) return error
    const seconds = Math.max(1, Math.ceil((windowMs - (now - entry.since)) / 1000))
    return new HubError('RATE_LIMITED', 'Too many wrong keys came from this address.', {
      hint: `Look at the key, and try again in ${seconds} s.`,
      retryAfter: seconds,
    })
  }
}
