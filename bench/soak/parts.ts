/** The parts of a running server's memory: the heap of each thread, as it says itself, and malloc's arenas and files, as the system sees them. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes of one thread. `heapTotal` holds `heapUsed` and all of `newSpace`; `external` holds `arrayBuffers`. */
export interface ThreadMemory {
  readonly heapUsed: number
  readonly heapTotal: number
  readonly newSpace: number
  readonly external: number
  readonly arrayBuffers: number
}

/** MB. */
export interface Parts {
  readonly resident: number
  /** Program and libraries, and the shared memory of SQLite. */
  readonly files: number
  /** Memory that malloc took for small pieces, of all threads; freed pieces among them stay. */
  readonly arenas: number
  /** Everything else: the heaps of V8, compiled code, stacks, and large pieces of malloc. */
  readonly others: number
  readonly threads: Readonly<Record<string, ThreadMemory>>
}

/** An arena of glibc begins at a multiple of this; the first one is called the heap by the system. */
const arenaSize = 64n << 20n

export function partsOf(pid: number, folder: string): Parts {
  let [files, arenas, others] = [0, 0, 0]
  let add: (kb: number) => void = () => {}
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const region = /^([0-9a-f]+)-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$/.exec(line)
    if (region) {
      const [, start = '0', name = ''] = region
      if (name === '[heap]' || (name === '' && BigInt(`0x${start}`) % arenaSize === 0n)) add = (kb) => (arenas += kb)
      else if (name.startsWith('/')) add = (kb) => (files += kb)
      else add = (kb) => (others += kb)
    }
    const resident = /^Rss:\s+(\d+)/.exec(line)?.[1]
    if (resident !== undefined) add(Number(resident))
  }
  const [f, a, o] = [files / 1024, arenas / 1024, others / 1024]
  return { resident: f + a + o, files: f, arenas: a, others: o, threads: threadsOf(folder) }
}

/** A thread that has ended no longer writes. */
const staleMs = 10_000

function threadsOf(folder: string): Record<string, ThreadMemory> {
  const threads: Record<string, ThreadMemory> = {}
  for (const name of readdirSync(folder).sort()) {
    const file = join(folder, name)
    try {
      if (Date.now() - statSync(file).mtimeMs > staleMs) rmSync(file)
      else threads[name] = JSON.parse(readFileSync(file, 'utf8')) as ThreadMemory
    } catch {
      // Half written: the next look has it.
    }
  }
  return threads
}

/** One line: `files 40 arenas 60 others 150 | main heap 60/80 new 32 external 9 | archive-thread-2 …`. */
export function partsText({ files, arenas, others, threads }: Parts): string {
  const mb = (value: number) => (value / 1024 ** 2).toFixed(0)
  const each = Object.entries(threads).map(
    ([name, t]) =>
      `${name} heap ${mb(t.heapUsed)}/${mb(t.heapTotal)} new ${mb(t.newSpace)} external ${mb(t.external)} buffers ${mb(t.arrayBuffers)}`,
  )
  return [`files ${files.toFixed(0)} arenas ${arenas.toFixed(0)} others ${others.toFixed(0)}`, ...each].join(' | ')
}
