/** Starts what is measured as processes of their own, and reads off what they cost. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const started = new Set<ChildProcess>()

/** A part that fails stops nothing: what was started ends with this process at the latest. */
export function own<Child extends ChildProcess>(child: Child): Child {
  started.add(child)
  return child.once('exit', () => started.delete(child))
}
process.once('exit', () => {
  for (const child of started) child.kill('SIGTERM')
})
// Or that would be left out.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

export interface Running {
  readonly port: number
  readonly pid: number
  /** Milliseconds from the start of the process to its being ready. */
  readonly startedIn: number
  stop(): Promise<void>
}

export async function start(child: ChildProcess, port: RegExp): Promise<Running> {
  const began = performance.now()
  own(child)
  let output = ''
  const found = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const match = port.exec(output)
      if (match?.[1] !== undefined) resolve(match[1])
    })
    child.once('exit', (code) => reject(new Error(`a process to be measured ended with ${code}`)))
  })
  child.stdout?.removeAllListeners('data').resume()
  return {
    port: Number(found),
    pid: child.pid ?? 0,
    startedIn: performance.now() - began,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      // A server that waits for its calls, which wait for mail, would not end.
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await once(child, 'exit')
      clearTimeout(timer)
    },
  }
}

/** Before a bench: the launcher runs what was built, which may be older than the source. A package has no source. */
export function build(checkout: string = file('..')): void {
  const script = join(checkout, 'scripts/build.ts')
  if (existsSync(script)) execFileSync(process.execPath, [script], { stdio: 'inherit' })
}

/** The Parley of this tree, or of another checkout. */
export const startParley = (
  storage: string,
  env: Record<string, string> = {},
  checkout: string = file('..'),
): Promise<Running> =>
  start(
    spawn(process.execPath, [join(checkout, 'bin/parley.js'), 'serve', '--port', '0'], {
      env: {
        PATH: process.env.PATH ?? '',
        STORAGE_ROOT: storage,
        MAILBOX_MAX_DEPTH: '1000000000',
        LOG_LEVEL: 'warn',
        // Measured by itself, in archive.ts.
        ARCHIVE_ENABLED: 'false',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: storage,
    }),
    /ready at http:\/\/[^\s:]+:(\d+)/,
  )

export const startFloor = (): Promise<Running> =>
  start(spawn(process.execPath, [file('floor-http.ts')], { stdio: ['ignore', 'pipe', 'inherit'] }), /(\d+)/)

export const startInboxFloor = (storage: string): Promise<Running> =>
  start(spawn(process.execPath, [file('floor-inbox.ts'), storage], { stdio: ['ignore', 'pipe', 'inherit'] }), /(\d+)/)

/** A script of this folder that takes orders, a line of JSON each, and answers each with one. */
export interface Worker<Order, Answer> {
  readonly pid: number
  ask(order: Order): Promise<Answer>
  stop(): Promise<void>
}

export function startWorker<Order, Answer>(script: string, ...args: string[]): Worker<Order, Answer> {
  const child = own(spawn(process.execPath, [file(script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] }))
  const gone = once(child, 'close')
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    pid: child.pid ?? 0,
    async ask(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      const { value, done } = await answers.next()
      if (done === true) throw new Error(`${script} ended`)
      return JSON.parse(value) as Answer
    },
    async stop() {
      child.stdin.end()
      await gone
    },
  }
}

/** Resident memory in MB. Linux only, as are the next two. */
export function memory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** The same, but of what several processes share each has its part only. */
export function ownMemory(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}

/** CPU time of a process with all its threads so far, in milliseconds: by the scheduler's clock, since ticks of 10 ms hide an idle one. */
export function cpu(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce(
    (sum, thread) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0] ?? 0) / 1e6,
    0,
  )
}

/** Waits until a process rests, at most a second: what it does behind its answers must not fall into the slice of another. */
export async function rested(pid: number): Promise<void> {
  for (let tries = 0, before = cpu(pid); tries < 100; tries++) {
    await sleep(10)
    const now = cpu(pid)
    if (now - before < 0.5) return
    before = now
  }
}
