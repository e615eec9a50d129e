/** The heap of this process, as far as it can be told how large to be, and when to give back what it does not need. */
import { performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'
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

const setGrowth = (factor: number): void => setFlag(`--semi-space-growth-factor=${factor}`)

/** Another V8 may not know these words, and would say so on standard error. */
const isKnownV8 = process.version.startsWith('v24.')

function setFlag(flag: string): void {
  if (isKnownV8) v8.setFlagsFromString(flag)
}

/**
 * V8 lets the part for new objects grow to 128 MB in each thread, of which nothing comes back by itself. The program's own thread stays as
 * V8 has it: held at 16 MB by a growth factor of 1, which counts for all threads, a send took 1.1 to 1.3 times as long, a search 1.5.
 */
export const workerLimits = { maxYoungGenerationSizeMb: 24 } as const

const inMb = (bytes: number): number => bytes / 1024 ** 2

/** From one look to the next, the share of the time in which a thread at rest works, and what is worth a collection. */
const [lookEveryMs, restingShare, worthMb] = [10_000, 0.05, 16]

/**
 * Gives back what a busy time has left, of the thread that calls it. V8 collects when something is made: in a server at rest nothing is, and
 * 234 MB stayed of which 30 lived. One collection wakes V8's own reducer, which shrinks the heap within the next seconds, in steps. The
 * collection that does all of it at once (`last-resort`) took 990 ms where this took 142, on a busy machine.
 */
export function giveBackAtRest(
  clock: Clock,
  { collect = collectGarbage, held = heldMb, busy = busyShare() } = {},
): () => void {
  /** As much as stayed after the last time, or as it shrank to since. */
  let kept = held()
  const look = () => {
    if (busy() < restingShare && held() - kept > worthMb) {
      collect()
      kept = held()
    } else kept = Math.min(kept, held())
    cancel = clock.after(lookEveryMs, look)
  }
  let cancel = clock.after(lookEveryMs, look)
  return () => cancel()
}

/** The share of the time since the last look in which the thread worked. */
function busyShare(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

function heldMb(): number {
  const { total_heap_size, external_memory } = v8.getHeapStatistics()
  return inMb(total_heap_size + external_memory)
}

/** A context that is made while the word is known has the function; nothing else of the program sees it. */
function collectGarbage(): void {
  if (!isKnownV8) return
  setFlag('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  setFlag('--no-expose-gc')
  collect()
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
