/** `npm run bench:soak`: mixed traffic of every door for ten minutes, and the memory of the server meanwhile and after. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile } from './client.ts'
import { machine } from './machine.ts'
import { quiet } from './post.ts'
import { build, memory, own, startParley } from './server.ts'
import type { Counts } from './soak/lane.ts'
import { partsOf, partsText } from './soak/parts.ts'

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    tree: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
  },
})
const minutes = Number(options.minutes)
if (options.help || !(minutes >= 1)) {
  console.log(`npm run bench:soak [-- --minutes <n>] [--tree <checkout>] [--env <NAME=value>]…

Gives a server mixed traffic of every door for ten minutes, or as many as are named (1 or more), and prints its resident
memory minute by minute, with what each part of it holds in MB (heaps as used/taken). --tree takes another checkout of Parley (with its packages installed); --env
sets a variable of the server.`)
  process.exit(options.help ? 0 : 1)
}

/** MB: at the end of the traffic, a minute more of it in the second half, and after a minute of rest. */
const limits = { most: 300, growth: 1, rested: 200 }

const storage = mkdtempSync(join(tmpdir(), 'parley-soak-'))
process.once('exit', () => rmSync(storage, { recursive: true, force: true, maxRetries: 3 }))
const tree = options.tree === undefined ? undefined : resolve(options.tree)
build(tree)
const folder = join(storage, 'parts')
mkdirSync(folder)
const inside = fileURLToPath(new URL('soak/inside.js', import.meta.url))
const given = Object.fromEntries(options.env.map((pair) => pair.split(/=(.*)/s, 2)))
const env = { ...given, SOAK_PARTS: folder, NODE_OPTIONS: `${given.NODE_OPTIONS ?? ''} --import=${inside}` }
const parley = await startParley(storage, { ...quiet, ...env, ARCHIVE_ENABLED: 'true' }, tree)
const traffic = own(
  spawn(
    process.execPath,
    [fileURLToPath(new URL('soak/traffic.ts', import.meta.url)), String(parley.port), String(60 * minutes)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  ),
)
let output = ''
traffic.stdout.setEncoding('utf8').on('data', (part: string) => {
  output += part
})
const ended = once(traffic, 'close')

/** The median of a look each second: between two collections the heap goes up and down. */
async function watch(seconds: number): Promise<number> {
  const seen: number[] = []
  for (let n = 0; n < seconds; n++) {
    await sleep(1000)
    seen.push(memory(parley.pid))
  }
  return percentile(seen, 50)
}

const mb = (value: number) => `${value.toFixed(0).padStart(5)} MB`
const parts = () => partsText(partsOf(parley.pid, folder))
console.log(`start      ${mb(memory(parley.pid))}`)
const byMinute: number[] = []
for (let minute = 1; minute <= minutes; minute++) {
  byMinute.push(await watch(60))
  console.log(`minute ${String(minute).padStart(3)} ${mb(byMinute.at(-1) ?? 0)}  ${parts()}`)
}
await ended
const atEnd = memory(parley.pid)
console.log(`end        ${mb(atEnd)}  ${parts()}`)
let lowest = atEnd
let restedIn = 0
for (let second = 1; second <= 60; second++) {
  await sleep(1000)
  lowest = Math.min(lowest, memory(parley.pid))
  if (lowest < limits.rested) restedIn ||= second
  if (second % 10 === 0) console.log(`rest  ${String(second).padStart(2)} s ${mb(memory(parley.pid))}  ${parts()}`)
}
await parley.stop()

const half = byMinute.slice(Math.floor(minutes / 2) - 1)
const growth = half.length < 2 ? 0 : ((half.at(-1) ?? 0) - (half[0] ?? 0)) / (half.length - 1)
const counts = JSON.parse(output) as Record<string, Counts>
console.log('\n| door | calls a second | errors |\n|---|---|---|')
for (const [door, { calls, errors, firstError }] of Object.entries(counts)) {
  console.log(`| ${door} | ${(calls / 60 / minutes).toFixed(0)} | ${errors} |`)
  if (firstError !== undefined) console.error(`${door}: ${firstError}`)
}
const rows = [
  ['at the end', `${atEnd.toFixed(0)} MB`, `≤ ${limits.most} MB`, atEnd <= limits.most],
  ['growth in the second half', `${growth.toFixed(1)} MB a minute`, `< ${limits.growth} MB`, growth < limits.growth],
  [
    'within a minute of rest',
    `${lowest.toFixed(0)} MB${restedIn ? `, below the limit after ${restedIn} s` : ''}`,
    `< ${limits.rested} MB`,
    lowest < limits.rested,
  ],
] as const
console.log('\n| memory | measured | target | |\n|---|---|---|---|')
for (const [what, measured, target, reached] of rows)
  console.log(`| ${what} | ${measured} | ${target} | ${reached ? '✓' : '✗'} |`)
console.log(`\n${machine}; ${minutes} minutes`)
