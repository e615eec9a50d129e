/** A child process that stands in for this one: it gets the signals, and this one ends as it ended. */
import { spawn } from 'node:child_process'

const signals = ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM', 'SIGUSR1', 'SIGUSR2']

/** A terminal sends these to the child itself. Passed on, they would come twice, and twice often means "at once". */
const fromTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGQUIT', 'SIGHUP'] : []

/**
 * Runs a program to its end and passes on the signals that come meanwhile. `stopped` is the last of them.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { started?: (child: import('node:child_process').ChildProcess) => void }} options
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null, stopped?: NodeJS.Signals, stderr: string }>}
 */
export function run(command, args, { started, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, options)
    started?.(child)
    let stopped
    let stderr = ''
    const passOn = (signal) => {
      stopped = signal
      if (!fromTerminal.includes(signal)) child.kill(signal)
    }
    const end = (settle) => {
      for (const signal of signals) process.off(signal, passOn)
      settle()
    }
    for (const signal of signals) process.on(signal, passOn)
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    child.once('error', (error) => end(() => reject(error)))
    child.once('close', (code, signal) => end(() => resolve({ code, signal, stopped, stderr })))
  })
}

/**
 * Ends this process the way a child ended.
 * @param {{ code: number | null, signal: NodeJS.Signals | null }} ended
 */
export function endAs({ code, signal }) {
  process.exitCode = code ?? 1
  if (signal) process.kill(process.pid, signal)
}
