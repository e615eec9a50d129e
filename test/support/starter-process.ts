/** The process that starts programs for a worker: starter.ts asks it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'

export interface Start {
  readonly number: number
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly input: string
}

export interface Ended {
  /** The exit code, the signal that ended it, or why it could not be started. */
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
  /** Of both streams, as it came. */
  readonly said: string
}

process.on('message', ({ number, program, args, cwd, env, input }: Start) => {
  let child: ChildProcessWithoutNullStreams
  try {
    child = spawn(program, args, { cwd, env, stdio: 'pipe' })
  } catch (error) {
    return void process.send?.({ number, code: String(error), stdout: '', stderr: '', said: '' })
  }
  // It may end without reading.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[], said: [] as Buffer[] }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      chunks[name].push(chunk)
      chunks.said.push(chunk)
    })
  const tell = (code: unknown) => {
    const texts = Object.entries(chunks).map(([name, parts]) => [name, Buffer.concat(parts).toString()])
    process.send?.({ number, code, ...Object.fromEntries(texts) })
  }
  child.once('error', (error: NodeJS.ErrnoException) => tell(error.code))
  child.once('close', (code, signal) => tell(code ?? signal))
})
process.on('disconnect', () => process.exit())
