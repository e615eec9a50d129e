/**
 * `npm run clients`: MCP clients that others made call a tool and read a resource at every door, over HTTP and stdio.
 * `npm run clients -- --wake [--quick] [--keep] [claude codex …]`: coding agents in tmux, set up by `parley init`, are woken by mail.
 * `npm run clients -- --record [claude codex gemini]`: the payloads of their hooks become the fixtures of the tests.
 */
import { Skipped } from '../bench/peers/python.ts'
import type { Client } from './clients/client.ts'
import { doorsOf } from './clients/doors.ts'
import { inspector, mcporter } from './clients/npm.ts'
import { startParley } from './clients/parley.ts'
import { fastmcp, fastmcp2, official } from './clients/python.ts'
import { wakeClients } from './clients/wake.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)

const has = (option: string) => process.argv.includes(option)
if (has('--wake') || has('--record')) {
  const only = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  await wakeClients({ only, records: has('--record'), quick: has('--quick'), keeps: has('--keep') }, say)
  process.exit()
}

const parley = await startParley()
const failures: string[] = []
const skips: string[] = []
const tally = { passed: 0, failed: 0 }
const row = (...cells: string[]) => `| ${cells.join(' | ')} |`

async function visitAll(client: Client): Promise<string[]> {
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

try {
  const rows: string[] = []
  for (const open of [inspector, mcporter, official, fastmcp, fastmcp2])
    try {
      const client = await open(parley, say)
      say(`visiting with ${client.name}`)
      rows.push(...(await visitAll(client)))
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      skips.push(error.message)
    }
  say(['', row('client', 'door', 'era'), row('---', '---', '---'), ...rows].join('\n'))
} finally {
  await parley.stop()
}
for (const skip of skips) say(`skipped: ${skip}`)
for (const failure of failures) say(`FAILED ${failure}`)
say(`${tally.passed} visits passed, ${tally.failed} failed, ${skips.length} clients skipped`)
process.exitCode = tally.failed === 0 ? 0 : 1
