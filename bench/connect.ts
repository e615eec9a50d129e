/** The cost of `parley connect`: the same `check_mail` by it and directly, in turns, and its memory and start. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type BenchClient, openClient, percentile } from './client.ts'
import { mediansInTurns } from './medians.ts'
import type { Row } from './rows.ts'
import { cpu, memory, own, startParley } from './server.ts'

/** Without the launcher, as on a machine that has Node 24. */
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export async function connectRows(folder: () => string, rounds: number, say: (text: string) => void): Promise<Row[]> {
  const storage = folder()
  const parley = await startParley(storage)
  try {
    const starts = []
    // The first two leave compiled code behind for the others.
    for (let n = 0; n < 2 + Math.min(rounds, 10); n++) starts.push(await startOnce(storage, parley.port))
    const measured = starts.slice(2)
    const front = await openFront(storage, parley.port)
    const direct = await openClient(parley.port, 'bob')
    say('calls by connect and directly')
    const check = (client: Pick<BenchClient, 'call'>) => () => client.call('check_mail', {})
    const contenders = { direct: check(direct), front: check(front), again: check(direct) }
    const seen = await mediansInTurns(contenders, { rounds })
    front.close()
    direct.close()
    const [by, without, again] = [seen.front, seen.direct, seen.again].map((values) => percentile(values, 50))
    const added = (by ?? Number.NaN) - (without ?? Number.NaN)
    const of = (pick: (one: Start) => number) => percentile(measured.map(pick), 50)
    const [ms, cpuMs, mib] = [of(({ ms }) => ms), of(({ cpuMs }) => cpuMs), of(({ mib }) => mib)]
    return [
      {
        what: '`check_mail` by `parley connect`, against directly',
        measured: `+${added.toFixed(2)} ms p50, ${((by ?? 0) / (without ?? 1)).toFixed(2)} × (${without?.toFixed(2)} ms directly)`,
        target: '≤ +1 ms',
        reached: added <= 1,
        noise: `${((again ?? 0) / (without ?? 1)).toFixed(2)} ×`,
      },
      {
        what: '`parley connect` from its start to its first answer',
        measured: `${ms.toFixed(0)} ms (CPU ${cpuMs.toFixed(0)} ms), ${mib.toFixed(0)} MB`,
        target: '≤ 150 ms, ≤ 60 MB',
        reached: ms <= 150 && mib <= 60,
      },
    ]
  } finally {
    await parley.stop()
  }
}

interface Start {
  readonly ms: number
  readonly cpuMs: number
  readonly mib: number
}

async function startOnce(storage: string, port: number): Promise<Start> {
  const began = performance.now()
  const front = await openFront(storage, port)
  const ms = performance.now() - began
  const start = { ms, cpuMs: cpu(front.pid), mib: memory(front.pid) }
  front.close()
  await front.gone
  return start
}

/** Ready once it has answered the client's first message. */
async function openFront(storage: string, port: number) {
  const args = [program, 'connect', '--server', `http://127.0.0.1:${port}`, '--door', 'mailbox', '--agent', 'bob']
  const env = { PATH: process.env.PATH ?? '', HOME: storage, NODE_COMPILE_CACHE: `${storage}/compile-cache` }
  const child = own(spawn(process.execPath, args, { env, cwd: storage, stdio: ['pipe', 'pipe', 'inherit'] }))
  const gone = once(child, 'close')
  const waiting: ((line: string) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line))
  let id = 0
  const ask = (method: string, params: object): Promise<string> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
    return new Promise((resolve) => waiting.push(resolve))
  }
  const clientInfo = { name: 'bench', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return {
    pid: child.pid ?? 0,
    gone,
    call: (name: string, args: object) => ask('tools/call', { name, arguments: args }),
    close: () => child.stdin.end(),
  }
}
