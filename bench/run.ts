/** `npm run bench`: measures, prints a table, writes bench/results.json. Every figure stands beside its floor of the same run. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { archiveRows } from './archive.ts'
import { asideRows } from './aside.ts'
import { busRows } from './bus.ts'
import { connectRows } from './connect.ts'
import { firstHourRows } from './first-hour.ts'
import { guardRows } from './guard.ts'
import { hubRows } from './hub.ts'
import { machine, today, treeOf } from './machine.ts'
import { mailRows } from './mail.ts'
import { mailboxRows } from './mailbox.ts'
import { scrapeRows, traceRows } from './observe.ts'
import { pagesRows } from './pages.ts'
import { postRows } from './post.ts'
import { proxyRows } from './proxy.ts'
import { restartRows } from './restart.ts'
import type { Row } from './rows.ts'
import { benchSearch } from './search.ts'
import { build } from './server.ts'
import { signInRows } from './sign-in.ts'
import { makeStores, type StoreName } from './stores.ts'
import { postgresRows, throughputRows } from './throughput.ts'
import { wakingRows } from './waking.ts'
import { workersRows } from './workers.ts'

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
process.once('exit', () => rmSync(base, { recursive: true, force: true, maxRetries: 3 }))
const folder = () => mkdtempSync(join(base, 'run-'))

const rounds = Number(options.rounds ?? (quick ? 8 : 20))
/** Of every large store. */
const messages = quick ? 100_000 : 1_000_000
const archiveSize = quick ? { rounds: 1, seconds: 1.5, burst: 3000 } : { rounds: 2, seconds: 1.5, burst: 10_000 }
const postSize = quick ? { samples: 100, sockets: 1000 } : { samples: 300, sockets: 5000 }
const samples = quick ? 100 : 200

/** A part that names a store gets the folder of it. */
interface Part {
  readonly store?: StoreName
  readonly measure: (storage: string) => Promise<Row[]>
}

const parts: Readonly<Record<string, Part>> = {
  throughput: { store: 'mailed', measure: (mailed) => throughputRows(folder, { rounds, mailed, against }, say) },
  postgres: { measure: () => postgresRows(folder, { rounds, against }, say) },
  mailbox: { store: 'mailbox', measure: (storage) => mailboxRows(storage, { folder, many: messages, quick }, say) },
  mail: { store: 'mail', measure: (storage) => mailRows(storage, { many: messages, samples: 5 * samples }, say) },
  archive: { measure: () => archiveRows(folder, archiveSize, say) },
  aside: { store: 'mail', measure: (storage) => asideRows(storage, { folder, messages }, say) },
  traces: { measure: () => traceRows(folder, rounds, say) },
  metrics: { store: 'mail', measure: (storage) => scrapeRows(storage, messages, say) },
  search: { store: 'search', measure: (storage) => benchSearch(storage, { messages, samples }, say) },
  post: { measure: () => postRows(folder, postSize, say) },
  'sign-in': { measure: () => signInRows(folder, rounds, say) },
  connect: { measure: () => connectRows(folder, rounds, say) },
  'first-hour': { measure: () => firstHourRows(folder, rounds, say) },
  proxy: { measure: () => proxyRows(folder, { rounds, samples }, say) },
  workers: { measure: () => workersRows(folder, rounds, say) },
  restart: { measure: () => restartRows(folder, quick ? 3 : 6, say) },
  guard: { measure: () => guardRows(folder(), quick ? 5 : 15) },
  bus: { store: 'topic', measure: (storage) => busRows(storage, { folder, many: messages, quick }, say) },
  hub: { measure: () => hubRows(folder, quick, say) },
  waking: { measure: () => wakingRows(folder, { samples }, say) },
  pages: { store: 'pages', measure: (storage) => pagesRows(storage, { folder, messages, samples: samples / 2 }, say) },
}

const usage = `npm run bench [-- --quick] [-- --only <part>] [-- --against <checkout>] [-- --rounds <n>]

Parts: ${Object.keys(parts).join(', ')}. --only may be given more than once.
--against runs another checkout of Parley (with its packages installed) beside this one in the parts throughput and postgres.
--quick has fewer rounds and smaller stores. Only a whole run is kept in bench/results.json. bench/README.md says what is measured.`

const wrong = only?.find((name) => !(name in parts))
const noCheckout = against !== undefined && !existsSync(join(against, 'bin/parley.js'))
if (options.help || wrong !== undefined || noCheckout) {
  console.log(
    wrong ? `There is no part ${wrong}.\n\n${usage}` : noCheckout ? `There is no Parley in ${against}.` : usage,
  )
  process.exit(options.help ? 0 : 1)
}

build()
if (against !== undefined) build(against)
const chosen = Object.entries(parts).filter(([name]) => only === undefined || only.includes(name))
const needed = chosen.flatMap(([, { store }]) => store ?? [])
if (needed.length > 0) say(`— stores of ${messages.toLocaleString('en')} messages`)
const stores = await makeStores(needed, { folder, messages, say })
const rows: Row[] = []
for (const [name, { store, measure }] of chosen) {
  say(`— ${name}`)
  rows.push(...(await measure((store && stores.get(store)) ?? '')))
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
