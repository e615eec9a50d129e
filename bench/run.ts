/** `npm run bench`: measures, prints a table, writes bench/results.json. Every figure stands beside its floor of the same run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { busRows } from './bus.ts'
import { guardRows } from './guard.ts'
import { mailRows } from './mail.ts'
import { mailboxRows } from './mailbox.ts'
import type { Row } from './rows.ts'
import { benchSearch } from './search.ts'

if (process.argv.includes('--help')) {
  console.log(
    `npm run bench [-- --quick] [-- --only mailbox|mail|search|guard|bus]

About ten minutes; --quick about three, with fewer rounds and smaller stores. Only a whole run is kept in bench/results.json.`,
  )
  process.exit(0)
}
const quick = process.argv.includes('--quick')
const base = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const folder = () => mkdtempSync(join(base, 'run-'))
const began = performance.now()
const say = (text: string) =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined

const mailSize = quick
  ? { rounds: 1, seconds: 1.5, many: 100_000, samples: 300 }
  : { rounds: 3, seconds: 2, many: 1_000_000, samples: 1000 }
const searchSize = quick ? { messages: 100_000, samples: 100 } : { messages: 1_000_000, samples: 200 }

const sections: Readonly<Record<string, () => Promise<Row[]>>> = {
  mailbox: () => mailboxRows(folder, quick, say),
  mail: () => mailRows(folder, mailSize, (text) => say(`mail: ${text}`)),
  search: () => benchSearch(folder(), searchSize),
  guard: () => guardRows(folder(), quick ? 5 : 20),
  bus: () => busRows(quick, (text) => say(`bus: ${text}`)),
}

const rows: Row[] = []

try {
  for (const [name, measure] of Object.entries(sections)) {
    if (only !== undefined && only !== name) continue
    say(name)
    rows.push(...(await measure()))
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}, Node ${process.version}`
console.log(`\n| | measured | target | |\n|---|---|---|---|`)
for (const { what, measured, target, reached } of rows)
  console.log(`| ${what} | ${measured} | ${target} | ${reached ? '✓' : '✗'} |`)
console.log(`\n${machine}${quick ? ', --quick' : ''}; ${((performance.now() - began) / 1000).toFixed(0)} s`)
// A quick run is for a look; the results that are kept come from a whole one.
if (!quick && only === undefined)
  writeFileSync(
    fileURLToPath(new URL('results.json', import.meta.url)),
    `${JSON.stringify({ machine, rows }, undefined, 2)}\n`,
  )
