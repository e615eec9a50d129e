/** Processes by name: this one's, and whether another one still lives; how many files this one may have open; what it starts and ends. */
import { readFileSync, readlinkSync } from 'node:fs'
import { constants, hostname, setPriority } from 'node:os'

/** Names a process such that a later one with the same number is not taken for it. */
export const processOf = (pid: number): string => `${hostname()}/${pid}/${startOf(pid)}`

export const thisProcess = (): string => processOf(process.pid)

/** Whether the process of that name still runs; undefined if it is, or was, one of another machine. */
export function isRunning(name: string): boolean | undefined {
  const [host, pid, start] = name.split('/')
  if (host !== hostname()) return undefined
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    // EPERM: it lives, but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return startOf(Number(pid)) === start
}

/**
 * When a process started, in the kernel's ticks; '' where the system does not tell that easily (not Linux), and for one
 * that has ended: until its parent asks how, which some never do, the kernel keeps it as if it were there.
 */
function startOf(pid: number): string {
  try {
    // The name in parentheses may hold anything; what follows it are the fields of proc(5) from the third on.
    const [state = '', ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return 'ZX'.includes(state) ? '' : (fields[18] ?? '')
  } catch {
    return ''
  }
}

/** The environment of a program that Parley starts: what finds programs and folders, and nothing that steers them. */
export function programEnv(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot', 'PATHEXT', 'LANG']
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

/**
 * Lets every other thread of the machine go first, and the programs that this thread starts too. Only Linux knows threads
 * by numbers; elsewhere nothing changes.
 */
export function stepBack(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), constants.priority.PRIORITY_LOW)
  } catch {
    // Slower for others, and no fault.
  }
}

/** How many files this process may have open at once, connections among them; undefined where there is no limit. */
export function openFileLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (soft !== undefined) return soft === 'unlimited' ? undefined : Number(soft)
  } catch {
    // Only Linux has it; the report takes longer.
  }
  const report = process.report as typeof process.report & { excludeNetwork: boolean }
  const { excludeNetwork } = report
  // Else it looks up the name of every open connection.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: unknown } } }
  report.excludeNetwork = excludeNetwork
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : undefined
}

/** Signals a program and what it has started, if it was started as the head of a group; Windows knows no groups. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    // Nobody of it is left.
  }
}

const lastWork = new Set<() => void>()
const doLastWork = (): void => {
  for (const work of lastWork) work()
}

/** Runs when this process ends, however it comes to that, but for SIGKILL; the returned function takes it back. */
export function onProcessExit(work: () => void): () => void {
  if (lastWork.size === 0) process.once('exit', doLastWork)
  lastWork.add(work)
  return () => {
    lastWork.delete(work)
    if (lastWork.size === 0) process.off('exit', doLastWork)
  }
}
