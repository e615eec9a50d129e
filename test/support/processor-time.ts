/** Notes the processor time of each file of tests: of its worker, and of the processes that it has started and that have ended. */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import { starterPid } from './starter.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: its imports are in it. */
    processorMs?: number
  }
}

/** Linux counts in these, and tells of ended children in /proc (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). */
const tickMs = 10
const [user, system, childrenUser, childrenSystem] = [11, 12, 13, 14]

function ticksOf(pid: number | string, fields: readonly number[]): number {
  try {
    // The name of the program, in brackets, may have spaces in it.
    const all = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields.reduce((sum, field) => sum + Number(all[field]), 0)
  } catch {
    return 0
  }
}

function childrenMs(): number {
  const pid = starterPid()
  const started = pid === undefined ? 0 : ticksOf(pid, [user, system, childrenUser, childrenSystem])
  return tickMs * (ticksOf('self', [childrenUser, childrenSystem]) + started)
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
