/** Starts what is measured as processes of their own, and reads off what they cost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export interface Running {
  readonly port: number
  readonly pid: number
  /** Milliseconds from the start of the process to its being ready. */
  readonly startedIn: number
  stop(): Promise<void>
}

async function start(child: ChildProcess, port: RegExp): Promise<Running> {
  const began = performance.now()
  let output = ''
  const found = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const match = port.exec(output)
      if (match?.[1] !== undefined) resolve(match[1])
    })
    child.once('exit', (code) => reject(new Error(`a process to be measured ended with ${code}`)))
  })
  return {
    port: Number(found),
    pid: child.pid ?? 0,
    startedIn: performance.now() - began,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

export const startParley = (storage: string, env: Record<string, string> = {}): Promise<Running> =>
  start(
    spawn(process.execPath, [file('../bin/parley.js'), 'serve', '--port', '0'], {
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

/** Runs a script of this folder to its end and returns the JSON it prints. */
export async function run<T>(script: string, ...args: string[]): Promise<T> {
  const child = spawn(process.execPath, [file(script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${script} ended with ${code}`)
  return JSON.parse(output) as T
}

/** Resident memory in MB. Linux only, as is the next. */
export function memory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** CPU time used so far, in milliseconds. */
export function cpu(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
