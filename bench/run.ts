/** `npm run bench`: measures, prints a table, writes bench/results.json. Every figure stands beside its floor of the same run. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { archiveRows } from './archive.ts'
import { asideRows } from './aside.ts'
import { busRows } from './bus.ts'
import { guardRows } from './guard.ts'
import { hubRows } from './hub.ts'
import { machine, today, treeOf } from './machine.ts'
import { mailRows } from './mail.ts'
import { mailboxRows } from './mailbox.ts'
import { pagesRows } from './pages.ts'
import { postRows } from './post.ts'
import type { Row } from './rows.ts'
import { benchSearch } from './search.ts'
import { signInRows } from './sign-in.ts'
import { postgresRows, throughputRows } from './throughput.ts'

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    rounds: { type: 'string' },
  },
})
const { quick, only } = options
const against = options.against === undefined ? undefined : resolve(options.against)

const began = performance.now()
const seconds = () => ((performance.now() - began) / 1000).toFixed(0)
const say = (text: string) => process.stderr.write(`${seconds().padStart(4)} s  ${text}\n`)
const base = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const folder = () => mkdtempSync(join(base, 'run-'))

const rounds = Number(options.rounds ?? (quick ? 8 : 20))
const mailSize = quick ? { many: 100_000, samples: 300 } : { many: 1_000_000, samples: 1000 }
const archiveSize = quick ? { rounds: 1, seconds: 1.5, burst: 3000 } : { rounds: 3, seconds: 2, burst: 10_000 }
const asideSize = { messages: quick ? 100_000 : 1_000_000 }
const searchSize = quick ? { messages: 100_000, samples: 100 } : { messages: 1_000_000, samples: 200 }
const pagesSize = quick ? { messages: 100_000, samples: 100 } : { messages: 1_000_000, samples: 200 }

const parts: Readonly<Record<string, () => Promise<Row[]>>> = {
  throughput: () => throughputRows(folder, { rounds, against }, say),
  postgres: () => postgresRows(folder, { rounds, against }, say),
  mailbox: () => mailboxRows(folder, quick, say),
  mail: () => mailRows(folder, mailSize, say),
  archive: () => archiveRows(folder, archiveSize, say),
  aside: () => asideRows(folder, asideSize, say),
  search: () => benchSearch(folder(), searchSize),
  post: () => postRows(folder, { rounds, samples: quick ? 100 : 400, sockets: quick ? 1000 : 5000, against }, say),
  'sign-in': () => signInRows(folder, rounds, say),
  guard: () => guardRows(folder(), quick ? 5 : 20),
  bus: () => busRows(quick, say),
  hub: () => hubRows(folder, quick, say),
  pages: () => pagesRows(folder, pagesSize, say),
}

const usage = `npm run bench [-- --quick] [-- --only <part>] [-- --against <checkout>] [-- --rounds <n>]

Parts: ${Object.keys(parts).join(', ')}. --only may be given more than once.
--against runs another checkout of Parley (with its packages installed) beside this one in the parts throughput, postgres and post.
--quick has fewer rounds and smaller stores. Only a whole run is kept in bench/results.json. bench/README.md says what is measured.`

const wrong = only?.find((name) => !(name in parts))
const noCheckout = against !== undefined && !existsSync(join(against, 'bin/parley.js'))
if (options.help || wrong !== undefined || noCheckout) {
  console.log(
    wrong ? `There is no part ${wrong}.\n\n${usage}` : noCheckout ? `There is no Parley in ${against}.` : usage,
  )
  process.exit(options.help ? 0 : 1)
}

const rows: Row[] = []
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (only !== undefined && !only.includes(name)) continue
    say(`— ${name}`)
    rows.push(...(await measure()))
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

const older = against === undefined ? '' : ' against the other tree |'
console.log(`\n| | measured | target | | Parley against itself |${older}\n|---|---|---|---|---|${older && '---|'}`)
for (const { what, measured, target, reached, noise = '', against: change = '' } of rows)
  console.log(`| ${what} | ${measured} | ${target} | ${reached ? '✓' : '✗'} | ${noise} |${older && ` ${change} |`}`)
console.log(`\n${machine}${quick ? ', --quick' : ''}; ${seconds()} s`)

// A quick run is for a look; the results that are kept come from a whole one.
if (!quick && only === undefined && options.rounds === undefined) {
  const file = fileURLToPath(new URL('results.json', import.meta.url))
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const { runs } = JSON.parse(readFileSync(file, 'utf8')) as { runs: { version: string }[] }
  const run = { version, commit: treeOf(), day: today(), machine, rows }
  writeFileSync(file, `${JSON.stringify({ runs: [run, ...runs] }, undefined, 2)}\n`)
}
