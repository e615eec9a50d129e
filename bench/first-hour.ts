/** The waits of somebody's first hour: `npx parley-hub serve`, commands beside a running server, and calls that name nobody. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { packInto } from '../test/support/package-server.ts'
import { serveRegistry } from '../test/support/registry.ts'
import { openClient, percentile } from './client.ts'
import { mediansInTurns } from './medians.ts'
import type { Row } from './rows.ts'
import { own, type Running, startParley } from './server.ts'
import { ratios } from './turns.ts'

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const project = '/srv/bench'

export async function firstHourRows(folder: () => string, rounds: number, say: (text: string) => void): Promise<Row[]> {
  say('npx parley-hub serve')
  const npx = await npxRow(folder(), Math.min(rounds, 8))
  const storage = folder()
  const parley = await startParley(storage)
  try {
    await seed(parley)
    say('commands beside a running server')
    const commands = commandsRow(storage, parley, Math.min(rounds, 10))
    say('identity by connection and by arguments')
    const rows = [npx, commands]
    for (const call of Object.entries(asked)) rows.push(await identityRow(parley, rounds, call))
    return rows
  } finally {
    await parley.stop()
  }
}

/** Its package is in the cache of npm, and the registry is on this machine; git and the archive are as a user has them. */
async function npxRow(folder: string, rounds: number): Promise<Row> {
  const later: (() => Promise<unknown>)[] = []
  const home = join(folder, 'home')
  mkdirSync(home)
  const registry = await serveRegistry(await packInto(folder), (work) => later.push(work))
  const env = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    npm_config_registry: registry,
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_omit: 'optional',
  }
  try {
    const times: number[] = []
    // The first two fill the caches: that of npm, and that of compiled code.
    for (let n = -2; n < rounds; n++) {
      const ms = await npxServe(env, home)
      if (n >= 0) times.push(ms)
    }
    const [median, most] = [percentile(times, 50), percentile(times, 100)]
    return {
      what: '`npx parley-hub serve` from its start to ready, warm cache',
      measured: `p50 ${median.toFixed(0)} ms, at most ${most.toFixed(0)} ms`,
      target: '≤ 2 s',
      reached: median <= 2000,
    }
  } finally {
    for (const work of later) await work()
  }
}

async function npxServe(env: Record<string, string>, cwd: string): Promise<number> {
  const began = performance.now()
  const args = ['--yes', 'parley-hub', 'serve', '--port', '0']
  // A group of its own: npx starts a shell, which starts Parley.
  const child = own(spawn('npx', args, { env, cwd, stdio: ['ignore', 'pipe', 'inherit'], detached: true }))
  const gone = once(child, 'close')
  for await (const line of createInterface(child.stdout)) if (/ready at http/.test(line)) break
  const ms = performance.now() - began
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await gone
  return ms
}

async function seed({ port }: Running): Promise<void> {
  const client = await openClient(port, '', '/mcp')
  const named = (name: string) => ({ project_key: project, program: 'bench', model: 'none', name })
  for (const name of ['GreenCastle', 'BlueLake']) await client.call('register_agent', named(name))
  const message = { project_key: project, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'Plan' }
  for (let n = 0; n < 200; n++) await client.call('send_message', { ...message, body_md: `Part ${n} of the plan.` })
  client.close()
}

function commandsRow(storage: string, { port }: Running, rounds: number): Row {
  const env = { PATH: process.env.PATH ?? '', HOME: storage, STORAGE_ROOT: storage, HTTP_PORT: String(port) }
  const timed = (...args: string[]): number => {
    const began = performance.now()
    execFileSync(process.execPath, args, { env, cwd: storage, stdio: 'ignore' })
    return performance.now() - began
  }
  const names = ['status', 'inbox', 'who']
  const calls = [...names.map((name) => [program, name]), ['-e', '']]
  const seen = calls.map((args) => {
    timed(...args)
    return [] as number[]
  })
  for (let n = 0; n < rounds; n++) for (const [at, args] of calls.entries()) seen[at]?.push(timed(...args))
  const medians = seen.map((times) => percentile(times, 50))
  const floor = medians.pop() ?? Number.NaN
  return {
    what: names
      .map((name) => `\`parley ${name}\``)
      .join(', ')
      .concat(' beside a running server'),
    measured: `p50 ${medians.map((ms) => ms.toFixed(0)).join(', ')} ms (an empty Node ${floor.toFixed(0)} ms)`,
    target: '≤ 200 ms each',
    reached: medians.every((ms) => ms <= 200),
  }
}

/** Calls as agents make them, and one that is as short as a call can be: there the same microseconds are the largest share. */
const asked = {
  fetch_inbox: {},
  send_message: { to: ['GreenCastle'], subject: 'Plan', body_md: 'The build is green again.' },
  'fetch_inbox with limit: 1': { limit: 1 },
} as const

/** Calls that the connection fills in, against those that name caller and project. */
async function identityRow(
  { port }: Running,
  rounds: number,
  [what, args]: readonly [string, Readonly<Record<string, unknown>>],
): Promise<Row> {
  const tool = what.split(' ')[0] ?? ''
  const own = { project_key: project, [tool === 'send_message' ? 'sender_name' : 'agent_name']: 'BlueLake' }
  // Of the same length, whatever they say: a longer URL and one more header cost 4 µs at any server.
  const open = (query: string, header: string) =>
    openClient(port, '', `/mcp?${query}=${encodeURIComponent(project)}`, { [header]: 'BlueLake' })
  const told = await open('project', 'X-Parley-Agent')
  const [named, again] = [await open('nothing', 'X-Nobody-Heeds'), await open('nothing', 'X-Nobody-Heeds')]
  const contenders = {
    byArguments: () => named.call(tool, { ...own, ...args }),
    byConnection: () => told.call(tool, args),
    again: () => again.call(tool, { ...own, ...args }),
  }
  // Short turns, and many: what is looked for is smaller than what the machine does from second to second.
  const seen = await mediansInTurns(contenders, { rounds: 6 * rounds, callsPerTurn: 100 })
  for (const client of [told, named, again]) client.close()
  const added = 100 * (ratios(seen.byConnection, seen.byArguments).median - 1)
  const milliseconds = percentile(seen.byArguments, 50)
  const judged = what === tool
  return {
    what: `\`${what}\` with agent and project by the connection, against by arguments`,
    measured: `${added < 0 ? '' : '+'}${added.toFixed(1)} % p50 (${((added * milliseconds) / 100).toFixed(3)} of ${milliseconds.toFixed(2)} ms)`,
    target: judged ? '≤ 2 %' : '',
    reached: !judged || added <= 2,
    noise: `${ratios(seen.again, seen.byArguments).median.toFixed(3)} ×`,
  }
}
