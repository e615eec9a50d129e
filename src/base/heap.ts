/** The heap of this process, as far as it can be told how large to be, and when to give back what it does not need. */
import { PerformanceObserver, performance } from 'node:perf_hooks'
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
 * The part for new objects, in MB: of the program's own thread both halves together, of a worker three halves. V8 lets it grow to 128
 * in each thread, of which nothing comes back by itself: under mixed load 256 MB of 945 were this. Half of 16 cost 5 % of the processor
 * time of a call, 16 3 % and 32 nothing (docs/decisions.md). In 30,000 sends on a busy machine 16 and 32 could not be told from 128.
 */
const mostNewMb = 16
export const workerLimits = { maxYoungGenerationSizeMb: 12 } as const

/**
 * How much may come on top of what lives before old objects are collected. V8 itself lets a small heap grow to four times: 255 MB after
 * 45,000 sends, and 197 with 100 %. With 50 % it collected more than twice as often, and a send took 7 to 23 % more processor time.
 */
const growingPercent = 100

/** Keeps the heap of a server small while it works. Until the returned function is called, for every thread of the process. */
export function boundHeap(): () => void {
  let release: (() => void) | undefined
  // V8 takes a limit only at its start: hence a look after each collection. Until then the space grows once at most.
  const observer = new PerformanceObserver(() => {
    if (newSpaceMb() >= mostNewMb) release ??= holdNewSpace()
    else {
      release?.()
      release = undefined
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  setFlag(`--heap-growing-percent=${growingPercent}`)
  return () => {
    observer.disconnect()
    release?.()
    setFlag('--heap-growing-percent=0')
  }
}

const newSpaceMb = (): number => inMb(v8.getHeapSpaceStatistics().find(isNewSpace)?.space_size ?? 0)
const isNewSpace = ({ space_name }: v8.HeapSpaceInfo): boolean => space_name === 'new_space'
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
