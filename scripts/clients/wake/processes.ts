/** The processes of a client and all that it has started: those with its home folder in their environment. */
import { readdirSync, readFileSync } from 'node:fs'
import { sleep } from './terminal.ts'

export interface Running {
  readonly pid: number
  readonly command: string
}

export function processesOf(home: string): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        return environment.includes(`HOME=${home}`) && command !== '' ? [{ pid: Number(name), command }] : []
      } catch {
        // It has ended meanwhile, or belongs to somebody else.
        return []
      }
    })
}

/** The ones that are left after some seconds. */
export async function leftOf(home: string, seconds: number, stays?: RegExp): Promise<Running[]> {
  const end = performance.now() + seconds * 1000
  for (;;) {
    const left = processesOf(home).filter(({ command }) => !/^tmux/.test(command) && !stays?.test(command))
    if (left.length === 0 || performance.now() > end) return left
    await sleep(100)
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
