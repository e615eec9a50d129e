/** The process of the client that runs a hook: the nearest above this one that is no shell. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const shells = /^-?(sh|bash|dash|zsh|fish|ksh|cmd\.exe|powershell\.exe|pwsh(\.exe)?)$/

/** Undefined where there is none any more. */
export function clientProcess(): number | undefined {
  let pid = process.ppid
  for (let steps = 0; steps < 5 && pid > 1; steps++) {
    const found = look(pid)
    if (found === undefined || !shells.test(found.name)) return pid
    pid = found.parent
  }
  return pid > 1 ? pid : undefined
}

function look(pid: number): { name: string; parent: number } | undefined {
  try {
    if (process.platform === 'linux') {
      // The name in parentheses may hold anything; the fourth field of proc(5) is the parent.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
      return { name, parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }
    }
    if (process.platform === 'win32') return undefined
    const line = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    const [, parent = '0', path = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    return { name: path.split('/').at(-1) ?? '', parent: Number(parent) }
  } catch {
    return undefined
  }
}
