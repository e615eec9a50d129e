/** `npm run bench:peers`: Parley beside other systems of its field, in turns in one run; writes bench/peers.json. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machine, today, treeOf } from './machine.ts'
import { agentBus, parleyBus } from './peers/buses.ts'
import { parleyMailbox, postal } from './peers/mailboxes.ts'
import { compare, type Peers, type Section, type Sizes } from './peers/measures.ts'
import { Skipped } from './peers/python.ts'
import { build } from './server.ts'

const usage = `npm run bench:peers [-- --quick] [-- --only bus|mailbox]

Installs agent-bus-mcp and postal-mcp from the Python package index into bench/.peers/ and runs them beside Parley.
--quick has few samples, for a look. Only a whole run is kept in bench/peers.json.`

const { values: options } = parseArgs({
  options: { help: { type: 'boolean' }, quick: { type: 'boolean' }, only: { type: 'string' } },
})
const { quick = false, only } = options
if (options.help || (only !== undefined && only !== 'bus' && only !== 'mailbox')) {
  console.log(usage)
  process.exit(options.help ? 0 : 1)
}

build()
const began = performance.now()
const say = (text: string) =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)
const base = mkdtempSync(join(tmpdir(), 'parley-peers-'))
const folder = () => mkdtempSync(join(base, 'run-'))

const sizes: Sizes = quick
  ? { starts: 2, deliveries: 5, rounds: 2, sliceSeconds: 0.5, waiters: 5, idleSeconds: 3 }
  : { starts: 7, deliveries: 100, rounds: 7, sliceSeconds: 1, waiters: 50, idleSeconds: 10 }

const kinds = {
  bus: {
    title: 'A bus of topics, over stdio',
    asked:
      'Each agent has a process of its own, all on one file, all in one topic; `sync` with one message of 222 characters writes, and brings up to 20 messages of the others.',
    open: async () => [parleyBus(folder), await agentBus(folder, say)],
  },
  mailbox: {
    title: 'Mailboxes, over streamable HTTP',
    asked:
      'One server for all agents; each agent has a connection and a session (protocol 2025-06-18), and a mailbox of its own. `send_to_agent` writes 222 characters, `check_mail` waits.',
    open: async () => [parleyMailbox(folder), await postal(folder, say)],
  },
} as const

const sections: Section[] = []
let complete = only === undefined && !quick
try {
  for (const [name, { title, asked, open }] of Object.entries(kinds)) {
    if (only !== undefined && only !== name) continue
    say(`— ${name}`)
    try {
      const systems = await open()
      const lines = await compare(systems, sizes, say)
      sections.push({ title, asked, systems: systems.map(({ open: _, ...about }) => about), lines })
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      complete = false
      console.log(`Skipped: ${title}: ${error.message}.`)
    }
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

for (const { title, systems, lines } of sections) {
  console.log(`\n${title}\n\n| | ${systems.map(({ name, version }) => `${name} ${version}`).join(' | ')} |`)
  console.log(`|${'---|'.repeat(systems.length + 1)}`)
  for (const { what, measured } of lines) console.log(`| ${what} | ${measured.join(' | ')} |`)
}
console.log(`\n${machine}${quick ? ', --quick' : ''}; ${((performance.now() - began) / 1000).toFixed(0)} s`)
if (complete) {
  const peers: Peers = { day: today(), commit: treeOf(), machine, sections }
  writeFileSync(fileURLToPath(new URL('peers.json', import.meta.url)), `${JSON.stringify(peers, undefined, 2)}\n`)
}
