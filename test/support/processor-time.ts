/** Notes the processor time of each file of tests: of its worker, and of the processes that it has started and that have ended. */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: its imports are in it. */
    processorMs?: number
  }
}

/** Linux counts in these, and tells of ended children in /proc (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). */
const tickMs = 10
const [childrenUser, childrenSystem] = [13, 14]

function childrenMs(): number {
  try {
    // The name of the program, in brackets, may have spaces in it.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return tickMs * (Number(fields[childrenUser]) + Number(fields[childrenSystem]))
  } catch {
    return 0
  }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + childrenMs()
}

const before = usedMs()

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads here which fixtures a hook wants.
afterAll(({}, file) => {
  file.meta.processorMs = usedMs() - before
})
