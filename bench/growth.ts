/** `npm run bench:growth`: cost against size, a table for messages, agents and processes; writes bench/growth.json. */
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { processLines } from './growth/processes.ts'
import type { Crowd } from './growth/seed.ts'
import { measured } from './growth/seed.ts'
import { prepare, remove, serverLines } from './growth/servers.ts'
import { type Growth, type GrowthPart, growthCells } from './growth/table.ts'
import { machine, today, treeOf } from './machine.ts'
import { build } from './server.ts'

const usage = `npm run bench:growth [-- --most 1e6] [-- --quick] [-- --only messages|agents|processes]

--most: the messages of the largest store, 1e4 to 1e7. --quick: small sizes, few samples, for a look.
--only may be given more than once. A whole run is kept in bench/growth.json; with --most 1e6 it takes less than ten minutes.`

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean' },
    quick: { type: 'boolean' },
    most: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
})
const { quick = false, only } = options
const most = Number(options.most ?? (quick ? 1e4 : 1e6))

const began = performance.now()
const seconds = () => ((performance.now() - began) / 1000).toFixed(0)
const say = (text: string) => process.stderr.write(`${seconds().padStart(4)} s  ${text}\n`)
const base = mkdtempSync(join(tmpdir(), 'parley-growth-'))
const folder = () => mkdtempSync(join(base, 'run-'))
const effort = quick ? { starts: 2, rounds: 30 } : { starts: 7, rounds: 300 }

/** Powers of ten. */
const tens = (from: number, to: number): number[] => (from > to ? [] : [from, ...tens(from * 10, to)])

/** Files, write-ahead log and the index that grows beside the messages, with room to spare for others. */
const bytesAMessage = 3000

async function crowds(sizes: readonly number[], crowd: (size: number) => Crowd) {
  const stores: Awaited<ReturnType<typeof prepare>>[] = []
  const skipped: string[] = []
  for (const size of sizes) {
    const wanted = crowd(size)
    const free = statfsSync(base)
    const gigabytes = (free.bavail * free.bsize) / 1e9
    if (gigabytes < (wanted.messages * bytesAMessage) / 1e9) {
      const reason = `${size.toLocaleString('en')} left out: ${gigabytes.toFixed(0)} GB are free, ${((wanted.messages * bytesAMessage) / 1e9).toFixed(0)} are wanted.`
      say(reason)
      skipped.push(reason)
      continue
    }
    say(`a store of ${wanted.messages.toLocaleString('en')} messages and ${wanted.agents.toLocaleString('en')} agents`)
    stores.push(await prepare(folder(), wanted))
  }
  say('measuring')
  const lines = await serverLines(stores, effort)
  remove(stores)
  return { lines, skipped, sizes: sizes.slice(0, stores.length) }
}

build()
const fixed = quick ? 10_000 : 100_000

const parts: Readonly<Record<string, () => Promise<GrowthPart>>> = {
  messages: async () => ({
    title: 'Messages',
    says: `Stores of so many messages, half of them unread in ${measured} mailboxes, half mail of a project of ${measured} agents.`,
    ...(await crowds(tens(1000, most), (messages) => ({ messages, agents: 2 * measured }))),
  }),
  agents: async () => ({
    title: 'Agents',
    says: `Stores of so many agents and ${fixed.toLocaleString('en')} messages; ${2 * measured} of the agents are asked and have half of the messages.`,
    ...(await crowds(tens(100, quick ? 1000 : 100_000), (agents) => ({ messages: fixed, agents }))),
  }),
  processes: async () => {
    const sizes = quick ? [1, 4] : [1, 4, 16, 64]
    say(`processes: ${sizes.join(', ')}`)
    return {
      title: 'Processes on one file',
      says: 'So many `parley bus` processes on one SQLite file; one sends, one takes and searches, all others wait in a quiet topic.',
      sizes,
      lines: await processLines(sizes, effort, folder),
      skipped: [],
    }
  },
}

const wrong = only?.find((name) => !(name in parts))
if (options.help || wrong !== undefined || !(most >= 1e4 && most <= 1e7)) {
  rmSync(base, { recursive: true, force: true })
  console.log(wrong === undefined ? usage : `There is no part ${wrong}.\n\n${usage}`)
  process.exit(options.help ? 0 : 1)
}

const seen: GrowthPart[] = []
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (only !== undefined && !only.includes(name)) continue
    say(`— ${name}`)
    seen.push(await measure())
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

for (const part of seen) {
  const { head, rows } = growthCells(part)
  console.log(`\n${part.title}. ${part.says}\n\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
  for (const reason of part.skipped) console.log(reason)
}
console.log(`\n${machine}${quick ? ', --quick' : ''}; ${seconds()} s`)
if (!quick && only === undefined && most >= 1e6) {
  const growth: Growth = { day: today(), commit: treeOf(), machine, parts: seen }
  writeFileSync(fileURLToPath(new URL('growth.json', import.meta.url)), `${JSON.stringify(growth, undefined, 2)}\n`)
}
