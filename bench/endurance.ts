/**
 * `npm run soak`: an hour of mixed traffic at 70 % of what a server takes, while a second process on the same file, which
 * others write by, is killed every half minute. It fails where something grows, slows down, is lost or comes twice.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile } from './client.ts'
import { machine } from './machine.ts'
import { quiet } from './post.ts'
import { build, own, type Running, startParley } from './server.ts'
import { startLedger } from './soak/ledger.ts'
import { lookAt, type Sight } from './soak/sight.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } })
const minutes = Number(values.minutes)
if (!(minutes >= 2)) throw new Error('npm run soak -- --minutes <n>: 2 or more')

/** Of the time that a connection could ask; the rest of it, it rests. */
const share = 0.7
const killEveryMs = 30_000

/** The last window may have so much more than the first: a share, and a little that is no growth. */
const limits = {
  memory: { factor: 1.2, more: 20, unit: 'MB' },
  files: { factor: 1, more: 20, unit: 'open files' },
  log: { factor: 1.5, more: 8, unit: 'MB of write-ahead log' },
  waiting: { factor: 1.2, more: 10, unit: 'waiting calls' },
  timers: { factor: 1.2, more: 30, unit: 'timers' },
} as const

const storage = mkdtempSync(join(tmpdir(), 'parley-soak-'))
process.once('exit', () => rmSync(storage, { recursive: true, force: true, maxRetries: 3 }))
build()
const parts = join(storage, 'parts')
mkdirSync(parts)
const inside = fileURLToPath(new URL('soak/inside.js', import.meta.url))
const measured = await startParley(storage, { ...quiet, SOAK_PARTS: parts, NODE_OPTIONS: `--import=${inside}` })
let killed = await startParley(storage, quiet)
const ledger = startLedger(measured.port, () => killed.port)

const traffic = fileURLToPath(new URL('soak/traffic.ts', import.meta.url))
const mixed = own(
  spawn(process.execPath, [traffic, String(measured.port), String(60 * minutes), String(share)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
)
let output = ''
mixed.stdout.setEncoding('utf8').on('data', (part: string) => {
  output += part
})
const ended = once(mixed, 'close')
const began = performance.now()

let running = true
let kills = 0
const killing = (async () => {
  for (let next = performance.now() + killEveryMs; running; await sleep(200)) {
    if (performance.now() < next) continue
    await kill(killed)
    killed = await startParley(storage, quiet)
    kills++
    next = performance.now() + killEveryMs
  }
})()

function rateOf(some: readonly Sight[]): number {
  const [first, last] = [some[0], some.at(-1)]
  return first === undefined || last === undefined
    ? 0
    : (1000 * (last.requests - first.requests)) / (last.at - first.at)
}

async function kill({ pid }: Running): Promise<void> {
  process.kill(pid, 'SIGKILL')
  // Its place in the file is free once the system has taken it away.
  await sleep(500)
}

const sights: Sight[] = []
// Its end, when the traffic thins out, is not looked at.
const until = began + 60_000 * minutes - 3000
for (let minute = 1; performance.now() < until; ) {
  await sleep(1000)
  sights.push(await lookAt(measured, storage, parts))
  if (performance.now() < began + 60_000 * minute) continue
  const { memory, files, log, waiting, timers } = sights.at(-1) as Sight
  console.log(
    `minute ${minute}: ${memory.toFixed(0)} MB, ${files} files, log ${log.toFixed(1)} MB, ${waiting} waiting, ${timers} timers, ${rateOf(sights.slice(-50)).toFixed(0)} requests a second, ${kills} kills`,
  )
  minute++
}
await ended
running = false
await killing
const { saved, lost, twice } = await ledger.end()
await Promise.all([measured.stop(), killed.stop()])

const window = Math.ceil(sights.length / 6)
const warm = Math.ceil(sights.length / (minutes > 12 ? 12 : 4))
const [first, last] = [sights.slice(warm, warm + window), sights.slice(-window)]
const usual = (some: readonly Sight[], what: keyof typeof limits) =>
  percentile(
    some.map((sight) => sight[what]),
    50,
  )
const errors = Object.values(JSON.parse(output) as Record<string, { errors: number }>).reduce(
  (sum, counts) => sum + counts.errors,
  0,
)
const rows = [
  ...Object.entries(limits).map(([name, { factor, more, unit }]) => {
    const [before, after] = [usual(first, name as keyof typeof limits), usual(last, name as keyof typeof limits)]
    const most = before * factor + more
    return [unit, before.toFixed(1), after.toFixed(1), `≤ ${most.toFixed(1)}`, after <= most] as const
  }),
  [
    'requests a second',
    rateOf(first).toFixed(0),
    rateOf(last).toFixed(0),
    '≥ 90 %',
    rateOf(last) >= 0.9 * rateOf(first),
  ],
  [`of ${saved} acknowledged sends, ${kills} kills: lost, twice`, '', `${lost}, ${twice}`, '0, 0', lost + twice === 0],
  ['errors of the mixed traffic', '', String(errors), '0', errors === 0],
] as const
console.log(`\n| | first sixth | last sixth | target | |\n|---|---|---|---|---|`)
for (const [what, before, after, target, held] of rows)
  console.log(`| ${what} | ${before} | ${after} | ${target} | ${held ? '✓' : '✗'} |`)
console.log(`\n${machine}; ${minutes} minutes`)
process.exitCode = rows.every(([, , , , held]) => held) ? 0 : 1
