/** Child processes that work on the same database as the test. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Job } from './db-child.ts'

const program = fileURLToPath(new URL('./db-child.ts', import.meta.url))

export interface Child {
  readonly process: ChildProcess
  /** Resolves when the child has said this word. */
  says(word: 'ready' | 'holding'): Promise<void>
  tell(word: 'go'): void
  /** Resolves when it has ended well; rejects with what it printed when it has not. */
  ended: Promise<void>
}

export function startChild(job: Job, ...args: string[]): Child {
  const child = fork(program, [job, ...args], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const heard = new Set<unknown>()
  child.on('message', (word) => heard.add(word))
  let errors = ''
  child.stderr?.on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit').then(([code, signal]) => {
    if (code !== 0) throw new Error(`The child ended with ${code ?? signal}: ${errors}`)
  })
  // It may be that nobody asks.
  ended.catch(() => {})
  return {
    process: child,
    async says(word) {
      while (!heard.has(word)) await Promise.race([once(child, 'message'), ended])
    },
    tell: (word) => void child.send(word),
    ended,
  }
}
