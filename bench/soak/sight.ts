/** One look at a running server: what it holds, and how many requests it has answered. Linux only. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { memory, type Running } from '../server.ts'

export interface Sight {
  readonly at: number
  /** MB. */
  readonly memory: number
  readonly files: number
  /** MB of the write-ahead log. */
  readonly log: number
  readonly waiting: number
  readonly timers: number
  readonly requests: number
}

export async function lookAt({ port, pid }: Running, storage: string, parts: string): Promise<Sight> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const sum = (name: string) =>
    [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (all, [, n]) => all + Number(n),
      0,
    )
  return {
    at: performance.now(),
    memory: memory(pid),
    files: readdirSync(`/proc/${pid}/fd`).length,
    log: bytesOf(join(storage, 'parley.sqlite3-wal')) / 2 ** 20,
    waiting: sum('parley_waiting'),
    timers: timersIn(join(parts, 'main')),
    requests: sum('parley_requests_total'),
  }
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Written every two seconds by the server itself (inside.js); a half written one has none. */
function timersIn(file: string): number {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { timers: number }).timers
  } catch {
    return 0
  }
}
