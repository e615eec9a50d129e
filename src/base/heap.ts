/** The heap of this process, as far as it can be told how large to be, and when to give back what it does not need. */
import { PerformanceObserver, performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { Clock } from './clock.ts'

/**
 * V8's flags for the heaps of a server. A flag counts for all threads; V8 lets each grow to 128 MB for new objects and to four times
 * of what lives for old ones, and gives nothing back under load: 541 MB after 90 s of mixed traffic, of which 60 were alive.
 */
const heap = {
  /** MB of both halves for new objects, in the main thread. With 32 a send takes 3 % less, and a server has 24 MB more. */
  mostNew: 16,
  /** MB of one half, from which a worker starts. With 4 a search took 1.1 to 1.25 of the time, and from V8's own 1 MB, which cannot grow while the main thread is held, 1.5. */
  workerHalf: 8,
  /** Percent that may come on top of what lives before old objects are collected. With 50 a server under mixed traffic has 15 MB more, with 100 another 25 to 45. */
  growing: 25,
} as const

/** Of a worker: V8 divides it by three. */
export const workerLimits = { maxYoungGenerationSizeMb: 3 * heap.workerHalf } as const

/** Of a worker with little that is new at a time: the archive's, where each collection frees the buffers that it has written, and the Markdown thread. */
export const smallWorkerLimits = { maxYoungGenerationSizeMb: 6 } as const

/** Another V8 may not know these words, and would say so on standard error. */
const isKnownV8 = process.version.startsWith('v24.')

function setFlag(name: string, value: number | false): void {
  if (isKnownV8) v8.setFlagsFromString(value === false ? `--no-${name}` : `--${name}=${value}`)
}

const letGrow = (grow: boolean): void => setFlag('semi-space-growth-factor', grow ? 2 : 1)

/**
 * Bounds the heaps of a server and of the workers that it starts from now on. Until the returned function is called, the part for new
 * objects does not grow at all: nearly all that a start makes is there to stay, which V8 takes for a need of 16 MB.
 */
export function boundHeap(): () => void {
  setFlag('heap-growing-percent', heap.growing)
  // Of so little, one thread copies what lives as fast as several that must agree, and with less processor time.
  setFlag('parallel-scavenge', false)
  setFlag('min-semi-space-size', heap.workerHalf)
  letGrow(false)
  return () => {
    letGrow(true)
    // V8 takes a limit at its start only: hence a look after each collection.
    const observer = new PerformanceObserver(() => letGrow(newSpaceMb() < heap.mostNew))
    observer.observe({ entryTypes: ['gc'] })
  }
}

const newSpaceMb = (): number =>
  inMb(v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0)

const inMb = (bytes: number): number => bytes / 1024 ** 2

/** From one look to the next, the share of the time in which a thread at rest works, and what is worth a collection. */
const [lookEveryMs, restingShare, worthMb] = [10_000, 0.05, 16]

/**
 * Gives back what a busy time has left, of the thread that calls it. V8 collects when something is made: in a server at rest nothing is, and
 * 234 MB stayed of which 30 lived. One collection wakes V8's own reducer, which shrinks the heap within the next seconds, in steps.
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

/**
 * Collects new objects, and has V8 begin to mark the old ones, beside the program: a collection at once held it up for 32 ms, and for
 * 150 to 440 on a busy machine, where this took 17. A context made while the word is known has the function; nothing else sees it.
 */
function collectGarbage(): void {
  if (!isKnownV8) return
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as (how: { type: 'minor' }) => void
  v8.setFlagsFromString('--no-expose-gc')
  setFlag('incremental-marking-hard-trigger', 1)
  collect({ type: 'minor' })
  setFlag('incremental-marking-hard-trigger', 0)
}
