/**
 * `npm run clients`: MCP clients that others made call a tool and read a resource at every door, over HTTP and stdio, and coding agents,
 * set up by `parley init`, call one without naming themselves, in two windows under two names.
 * `npm run clients -- --as [claude codex …]`: only the latter.
 * `npm run clients -- --wake [--quick] [--keep] [claude codex …]`: coding agents in tmux, set up by `parley init`, are woken by mail.
 * `npm run clients -- --record [claude codex gemini]`: the payloads of their hooks become the fixtures of the tests.
 */
import { Skipped } from '../bench/peers/python.ts'
import type { Client } from './clients/client.ts'
import { doorsOf } from './clients/doors.ts'
import { visitAsThemselves } from './clients/identity.ts'
import { inspector, mcporter } from './clients/npm.ts'
import { type Parley, startParley } from './clients/parley.ts'
import { fastmcp, fastmcp2, official } from './clients/python.ts'
import { wakeClients } from './clients/wake.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)

const usage = `npm run clients                                           every client at every door, then coding agents in two windows
npm run clients -- --as [client …]                        coding agents in two windows alone
npm run clients -- --wake [--quick] [--keep] [client …]   coding agents are woken by mail
npm run clients -- --record [claude codex gemini]         the payloads of their hooks become the fixtures of the tests
Clients are claude, codex, opencode, gemini and openclaw. Each is fetched on its first use, 2 GB in all.`

const options = ['--as', '--wake', '--quick', '--keep', '--record']
const words = process.argv.slice(2)
// A run takes minutes and both cores: --help and a mistyped option begin none.
if (words.some((word) => word.startsWith('-') && !options.includes(word))) {
  say(usage)
  process.exit(words.includes('--help') ? 0 : 1)
}

const has = (option: string) => words.includes(option)
const only = words.filter((word) => !word.startsWith('-'))
if (has('--wake') || has('--record')) {
  await wakeClients({ only, records: has('--record'), quick: has('--quick'), keeps: has('--keep') }, say)
  process.exit()
}

const failures: string[] = []
const skips: string[] = []
const tally = { passed: 0, failed: 0 }
const row = (...cells: string[]) => `| ${cells.join(' | ')} |`

async function visitAll(parley: Parley, client: Client): Promise<string[]> {
  const rows: string[] = []
  for (const door of doorsOf(parley)) {
    const cells: string[] = []
    for (const era of client.eras) {
      const failed = await client.visit(door, era).then(
        () => undefined,
        (error: Error) => error.message,
      )
      if (failed !== undefined) failures.push(`${client.name}, ${door.name}, ${era}: ${failed}`)
      tally[failed === undefined ? 'passed' : 'failed']++
      const done = door.resource === undefined ? 'called' : 'called, read'
      cells.push(`${era}: ${failed === undefined ? done : 'FAILED'}`)
    }
    rows.push(row(client.name, door.name, cells.join(' · ')))
  }
  return rows
}

async function visitDoors(): Promise<void> {
  const parley = await startParley()
  try {
    const rows: string[] = []
    for (const open of [inspector, mcporter, official, fastmcp, fastmcp2])
      try {
        const client = await open(parley, say)
        say(`visiting with ${client.name}`)
        rows.push(...(await visitAll(parley, client)))
      } catch (error) {
        if (!(error instanceof Skipped)) throw error
        skips.push(error.message)
      }
    say(['', row('client', 'door', 'era'), row('---', '---', '---'), ...rows, ''].join('\n'))
  } finally {
    await parley.stop()
  }
}

if (!has('--as')) await visitDoors()
const windows = await visitAsThemselves(only, say)
say(
  [
    '',
    row('client', 'named', 'called'),
    row('---', '---', '---'),
    ...windows.rows.map((cells) => row(...cells)),
    '',
  ].join('\n'),
)
failures.push(...windows.failures)
skips.push(...windows.skips)
tally.failed += windows.failures.length
tally.passed += windows.rows.length - windows.failures.length
for (const skip of skips) say(`skipped: ${skip}`)
for (const failure of failures) say(`FAILED ${failure}`)
say(`${tally.passed} visits passed, ${tally.failed} failed, ${skips.length} clients skipped`)
process.exitCode = tally.failed === 0 ? 0 : 1
