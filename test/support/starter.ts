/** Programs that tests start and wait for, from a small process: `git rev-parse` takes a worker with 500 MB 8 ms of processor time, and this 3. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Ended, Start } from './starter-process.ts'

const script = fileURLToPath(new URL('./starter-process.ts', import.meta.url))

/** One for all files of a worker. */
let starter: ChildProcess | undefined
let asked = 0
const waiting = new Map<number, (ended: Ended) => void>()

/** The number of the process, once there is one. */
export const starterPid = (): number | undefined => starter?.pid

interface Given {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The text on its stdin. */
  readonly input?: string
}

export function runToEnd(
  program: string,
  args: readonly string[],
  { cwd, env = process.env, input = '' }: Given,
): Promise<Ended> {
  starter ??= startStarter()
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const start: Start = { number: ++asked, program, args, cwd, env, input }
  waiting.set(start.number, resolve)
  starter.send(start)
  return promise
}

/** The output of git; throws if it fails. */
export async function gitOutput(args: readonly string[], given: Given): Promise<string> {
  const { code, stdout, stderr } = await runToEnd('git', args, given)
  if (code === 0) return stdout
  throw new Error(`git ${args.join(' ')} in ${given.cwd} ended with ${code}: ${stderr}`)
}

function startStarter(): ChildProcess {
  const child = fork(script, [], { execArgv: [], serialization: 'advanced' })
  child.on('message', ({ number, ...ended }: Ended & { number: number }) => {
    waiting.get(number)?.(ended)
    waiting.delete(number)
  })
  child.on('exit', (code, signal) => {
    starter = undefined
    const ended = { code: `the starter: ${signal ?? code}`, stdout: '', stderr: '', said: '' }
    for (const tell of waiting.values()) tell(ended)
    waiting.clear()
  })
  // It ends with its worker, and keeps none alive.
  child.unref()
  child.channel?.unref()
  return child
}
