/** The heap of this process, as far as it can be told how large to be. */
import v8 from 'node:v8'
import type { Clock } from './clock.ts'

let holds = 0

/**
 * Until the returned function is called, the part of the heap for new objects does not grow. Nearly all that a start makes is there to
 * stay, which V8 takes for a need of more room: 16 MB, of which a resting server uses 2. Under load it grows as always.
 */
export function holdNewSpace(): () => void {
  if (holds++ === 0) setGrowth(1)
  return () => {
    if (--holds === 0) setGrowth(2)
  }
}

function setGrowth(factor: number): void {
  // Another V8 may not know this word, and would say so on standard error.
  if (process.version.startsWith('v24.')) v8.setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

/** Fewer of them need no room to speak of. */
const leastCounted = 100

/** So long after the last one the new space may grow again. */
const calmMs = 1000

/**
 * Holds the new space while there are more and more of something that stays: with 5,000 sockets a server has 144 MB
 * instead of 180 to 185. Those that come and go as ever hold nothing.
 */
export class Crowd {
  readonly #clock: Clock
  readonly #hold: typeof holdNewSpace
  /** As many as there were at once, since they last were half as many. */
  #most = leastCounted
  #rising = false
  #held = false

  constructor(clock: Clock, hold = holdNewSpace) {
    this.#clock = clock
    this.#hold = hold
  }

  /** Told how many there are, with each that comes. */
  note(count: number): void {
    if (count < this.#most / 2) this.#most = Math.max(count, leastCounted)
    if (count <= this.#most) return
    this.#most = count
    this.#rising = true
    if (this.#held) return
    this.#held = true
    const release = this.#hold()
    const look = () => {
      this.#held = this.#rising
      this.#rising = false
      if (this.#held) this.#clock.after(calmMs, look)
      else release()
    }
    look()
  }
}
