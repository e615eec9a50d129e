/** A client as a command line: it is run to its end, and what it printed must have the answer. */
import { type ExecFileException, execFile } from 'node:child_process'
import type { Door } from './doors.ts'

export interface Client {
  readonly name: string
  /** Versions of the protocol that it can be told to speak; one column each. */
  readonly eras: readonly string[]
  /** Calls the tool of a door, and reads its resource where it has one; throws what went wrong. */
  visit(door: Door, era: string): Promise<void>
}

const secondsMost = 60

/** A client that ends by itself with 0 has closed its session; one that hangs or is killed has not. */
export async function runToEnd(
  program: string,
  args: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const ended = (error: ExecFileException | null, stdout: string, stderr: string) => {
      if (error === null) return resolve(stdout)
      const why = error.killed ? `did not end in ${secondsMost} s` : `ended with ${error.code}`
      reject(new Error(`${why}: ${(stderr || stdout).trim().slice(-600)}`))
    }
    execFile(program, args, { env, cwd, timeout: secondsMost * 1000, maxBuffer: 1 << 25 }, ended).stdin?.end()
  })
}

export function mustHave(printed: string, text: string): void {
  if (!printed.includes(text)) throw new Error(`no "${text}" in: ${printed.trim().slice(0, 300)}`)
}
