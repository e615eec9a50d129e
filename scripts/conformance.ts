/** `npm run conformance`: the protocol's own suite against a real Parley, and, but for `--doors`, its stack with the suite's fixtures. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hastyClock } from '../test/doors/mcp/engine.ts'
import { startFixture } from '../test/doors/mcp/fixture.ts'
import { suiteDoor } from '../test/doors/mcp/suite-door.ts'
import { build } from './build.ts'
import { baseline, scenariosOf } from './conformance/baseline.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** The scenarios of each revision that a server can pass without the suite's own tools, resources and prompts. */
const fixtureFree: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'logging-set-level',
    'tools-list',
    'resources-list',
    'resources-subscribe',
    'resources-unsubscribe',
    'prompts-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless',
    'http-header-validation',
    'caching',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'input-required-result-unsupported-methods',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
}

/** Checks of `server-stateless` that the suite itself calls "not testable" on a server without its diagnostic tools. */
const untestable = new Set([
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
])

export interface Outcome {
  readonly scenario: string
  readonly passed: number
  /** The failed checks, without those that cannot be tested. */
  readonly failed: readonly string[]
  readonly untestable: number
}

/** Runs everything a revision asks for and reports the scenarios that are wanted. One that did not run has failed. */
export async function runConformance(url: string, revision: string, wanted: readonly string[]): Promise<Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-conformance-'))
  try {
    // The exit code tells of scenarios that need fixtures too; the checks themselves are in the files.
    await new Promise((resolve) =>
      execFile(process.execPath, [suite, 'server', '--url', url, '--requirements', revision, '-o', folder], resolve),
    )
    const folders = await readdir(folder)
    return await Promise.all(wanted.map((scenario) => outcome(folder, folders, scenario)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function outcome(folder: string, folders: readonly string[], scenario: string): Promise<Outcome> {
  const own = folders.find((name) => name.startsWith(`server-${scenario}-2`))
  if (own === undefined) return { scenario, passed: 0, failed: ['did not run'], untestable: 0 }
  const checks: { id: string; status: string; errorMessage?: string }[] = JSON.parse(
    await readFile(join(folder, own, 'checks.json'), 'utf8'),
  )
  const failures = checks.filter(({ status }) => status === 'FAILURE')
  const failed = failures
    .filter(({ id }) => !untestable.has(id))
    .map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`)
  const left = failures.length - failed.length
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length
  // A scenario without a single check proves nothing.
  if (passed === 0 && failed.length === 0) failed.push('checked nothing')
  return { scenario, passed, failed, untestable: left }
}

/** The door without resources, the one with most of them, and the one with subscriptions and tasks. */
const doors = ['agents/conformance/mcp', 'mcp', 'hub/mcp?agent=conformance']

/** The product as a user starts it, on a free port and with a folder of its own. */
async function startParley(): Promise<{ urls: string[]; stop(): Promise<void> }> {
  await build()
  const storage = await mkdtemp(join(tmpdir(), 'parley-conformance-'))
  const env = { PATH: process.env.PATH, HOME: storage, STORAGE_ROOT: storage, LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, [join(root, 'bin/parley.js'), 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(child.stdout)) {
    const base = /ready at (http:\/\/\S+)/.exec(line)?.[1]
    if (base === undefined) continue
    return {
      urls: doors.map((door) => `${base}/${door}`),
      async stop() {
        child.kill()
        await once(child, 'close')
        await rm(storage, { recursive: true, force: true })
      },
    }
  }
  throw new Error('Parley ended before it was ready.')
}

function print({ scenario, passed, failed, untestable }: Outcome): void {
  const note = untestable === 0 ? '' : `, ${untestable} not testable without fixtures`
  console.log(`  ${failed.length === 0 ? 'pass' : 'FAIL'}  ${scenario.padEnd(44)} ${passed} checks${note}`)
  for (const failure of failed) console.log(`        ${failure}`)
}

/** Runs the checks that need no fixture at a door of the product; returns how many fail. */
async function judgeDoor(url: string): Promise<number> {
  let bad = 0
  for (const [revision, wanted] of Object.entries(fixtureFree)) {
    console.log(`\nMCP ${revision} at ${url}`)
    const outcomes = await runConformance(url, revision, wanted)
    for (const outcome of outcomes) print(outcome)
    bad += outcomes.filter(({ failed }) => failed.length > 0).length
  }
  return bad
}

/**
 * Everything that each revision requires, at a door with the suite's fixtures on the product's own stack; how many fail.
 * Of the other scenarios those fail that the baseline does not name, and those that it names and that pass.
 */
async function judgeStack(): Promise<number> {
  const fixture = await startFixture({ clock: hastyClock, door: suiteDoor, tasks: true })
  let bad = 0
  for (const [revision, reasons] of Object.entries(baseline)) {
    const { required, others } = await scenariosOf(revision)
    console.log(`\nMCP ${revision} at a door with the fixtures of the suite`)
    const outcomes = await runConformance(fixture.url, revision, [...required, ...others])
    for (const outcome of outcomes) {
      const reason = reasons[outcome.scenario]
      const passes = hasPassed(outcome)
      if (passes === (reason !== undefined)) bad++
      if (reason === undefined) print(outcome)
      else console.log(`  ${passes ? 'FAIL  passes, take it out:' : 'none '} ${outcome.scenario.padEnd(44)} ${reason}`)
    }
    const passed = outcomes.filter(({ scenario }) => required.includes(scenario)).filter(hasPassed).length
    console.log(`  ${passed} of the ${required.length} required scenarios pass`)
  }
  await fixture.close()
  return bad
}

/** At a door with fixtures everything can be tested. */
export const hasPassed = ({ failed, untestable }: Outcome): boolean => failed.length === 0 && untestable === 0

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { url: { type: 'string' }, doors: { type: 'boolean' } } })
  const server = values.url === undefined ? await startParley() : { urls: [values.url], stop: async () => {} }
  // `npm test` has judged the stack already (all.mcp.conformance).
  let bad = values.url === undefined && !values.doors ? await judgeStack() : 0
  for (const url of server.urls) bad += await judgeDoor(url)
  await server.stop()
  console.log(bad === 0 ? '\nEvery required scenario passes.' : `\n${bad} scenarios fail.`)
  process.exitCode = bad === 0 ? 0 : 1
}

if (import.meta.main) await main()
