/** How often something may start within an hour. */
const hourMs = 3_600_000

export class HourlyLimit {
  readonly #most: number
  #starts: number[] = []

  constructor(most: number) {
    this.#most = most
  }

  count(now: number): void {
    this.#starts.push(now)
  }

  /** 0 where it may start now. A clock that was put back does not stop it for longer than an hour. */
  msUntilFree(now: number): number {
    this.#starts = this.#starts.filter((at) => at > now - hourMs && at <= now + hourMs)
    const [oldest = now] = this.#starts.slice(-this.#most)
    return this.#starts.length < this.#most ? 0 : Math.min(hourMs, oldest + hourMs - now)
  }
}
