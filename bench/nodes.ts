/** `npm run bench:nodes`: what 1, 2 and 4 nodes on one PostgreSQL carry, in turns, and what a message costs node and database. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '../test/support/postgres.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import { machine, today, treeOf } from './machine.ts'
import { wakeUps } from './mailbox.ts'
import { type CallCost, costCells, lineCells, type Nodes, type NodesLine } from './nodes/table.ts'
import { fillMailboxes, makeDatabase } from './seed-postgres.ts'
import { build, cpu, type Running, rested, startParley, startWorker, type Worker } from './server.ts'
import { spread, takeTurns, walls } from './turns.ts'

const usage = `npm run bench:nodes [-- --rounds <n>]

A whole run (16 rounds) is kept in bench/nodes.json and takes some three minutes; \`npm run docs\` shows it in docs/scale.md.`

const { values: options } = parseArgs({
  options: { help: { type: 'boolean', default: false }, rounds: { type: 'string' } },
})
if (options.help) {
  console.log(usage)
  process.exit(0)
}
build()
const rounds = Number(options.rounds ?? 16)
const sizes = [1, 2, 4]
const connections = 64
const seconds = 0.3

const calls = {
  send: '`send_to_agent`, 64 senders to 64 mailboxes',
  sendToOne: '`send_to_agent`, 64 senders to one mailbox',
  check: '`check_mail`, 64 full mailboxes',
} as const

const began = performance.now()
const passed = () => ((performance.now() - began) / 1000).toFixed(0)
const say = (text: string) => process.stderr.write(`${passed().padStart(4)} s  ${text}\n`)

/** Some nodes on a database of their own, and a load for each. */
interface Cluster {
  readonly database: string
  readonly nodes: readonly Running[]
  readonly loads: readonly Worker<Order, Load>[]
}

const base = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const server = await startPostgres({ durable: true })
const clusters = new Map<string, Cluster>()

/** CPU time of PostgreSQL so far, in milliseconds: of the processes that are there, and of those that have ended. Linux only. */
function postgresCpu(): number {
  const statOf = (pid: string | number) =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
  const cpuOfChild = (pid: string): number => {
    try {
      return Number(statOf(pid)[1]) === server.pid ? cpu(Number(pid)) : 0
    } catch {
      // It has just ended.
      return 0
    }
  }
  // The fields of user and system time of children that were waited for, in ticks of 10 ms.
  const [user, system] = statOf(server.pid).slice(13, 15)
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return (Number(user) + Number(system)) * 10 + pids.reduce((sum, pid) => sum + cpuOfChild(pid), 0)
}

async function open(size: number): Promise<Cluster> {
  const database = await makeDatabase(server.url, `nodes_${size}`)
  const env = { DATABASE_URL: database, SECRET_KEY: 'one key for all of the nodes' }
  const nodes: Running[] = []
  // The first one makes the tables.
  for (let n = 0; n < size; n++) nodes.push(await startParley(mkdtempSync(join(base, 'node-')), env))
  return { database, nodes, loads: nodes.map(() => startWorker('load.ts')) }
}

async function close(size: string, { nodes, loads }: Cluster): Promise<void> {
  clusters.delete(size)
  await Promise.all(loads.map((load) => load.stop()))
  await Promise.all(nodes.map((node) => node.stop()))
}

/** Microseconds a call, all nodes together. */
async function slice({ nodes, loads }: Cluster, call: Order['call']): Promise<{ calls: number; wall: number }> {
  const share = connections / nodes.length
  const seen = await Promise.all(
    loads.map((load, n) =>
      load.ask({ port: nodes[n]?.port ?? 0, call, era: 'plain', connections: share, first: n * share, seconds }),
    ),
  )
  const errors = seen.reduce((sum, load) => sum + load.errors, 0)
  if (errors > 0) throw new Error(`${call}: ${errors} calls failed`)
  const rate = seen.reduce((sum, load) => sum + 1 / load.microseconds, 0)
  return { calls: seen.reduce((sum, load) => sum + load.calls, 0), wall: 1 / rate }
}

async function measure(call: keyof typeof calls): Promise<NodesLine> {
  say(calls[call])
  if (call === 'check') for (const { database } of clusters.values()) await fillMailboxes(database, 30 * rounds)
  const contenders = Object.fromEntries(
    [...clusters].map(([size, cluster]) => [size, { slice: () => slice(cluster, call) }]),
  )
  // Until the code is compiled.
  for (const contender of Object.values(contenders)) for (let n = 0; n < 4; n++) await contender.slice()
  const seen = await takeTurns(contenders, rounds)
  const measured = sizes.map((size) => {
    const { median, low, high } = spread(walls(seen[`${size}`] ?? []))
    return `${Math.round(1e6 / median)}/s (${Math.round(1e6 / high)}–${Math.round(1e6 / low)})`
  })
  return { what: calls[call], measured }
}

async function measureWakeUps(): Promise<NodesLine> {
  say('wake-ups')
  const measured: string[] = []
  for (const { nodes } of clusters.values()) {
    const { p50, p99 } = await wakeUps(nodes[0] as Running, nodes.at(-1) as Running, 200)
    measured.push(`p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  }
  return { what: 'send → a `check_mail` that waits at the last node', measured }
}

async function ask<T>(database: string, query: string): Promise<T> {
  const client = new Client(database)
  await client.connect()
  const { rows } = await client.query(query)
  await client.end()
  return rows[0] as T
}

/** Waits until what is done behind the answers is done, and not as long as a server keeps the silent connections of the load. */
async function settled({ database, nodes }: Cluster): Promise<void> {
  const until = performance.now() + 30_000
  const pending = async () => (await ask<{ n: number }>(database, 'SELECT COUNT(*)::int AS n FROM search_pending')).n
  while ((await pending()) > 0 && performance.now() < until) await sleep(500)
  // Sums of activity are made some seconds behind.
  await sleep(3000)
  for (const { pid } of nodes) await rested(pid)
}

/** The cost of a call to the node and PostgreSQL: CPU, log and disk. */
async function costOf(cluster: Cluster, call: Order['call']): Promise<CallCost> {
  say(`the cost of ${call}`)
  const look = async () => {
    await settled(cluster)
    return {
      ...(await ask<{ log: number; disk: number }>(
        cluster.database,
        "SELECT (pg_current_wal_lsn() - '0/0')::float8 AS log, pg_database_size(current_database())::float8 AS disk",
      )),
      database: postgresCpu() * 1000,
      node: cluster.nodes.reduce((sum, { pid }) => sum + cpu(pid), 0) * 1000,
    }
  }
  const before = await look()
  let made = 0
  for (let n = 0; n < 10; n++) made += (await slice(cluster, call)).calls
  const after = await look()
  const each = (of: keyof typeof after) => Math.round((after[of] - before[of]) / made)
  return { calls: made, node: each('node'), database: each('database'), log: each('log'), disk: each('disk') }
}

async function run(): Promise<Nodes> {
  for (const size of sizes) {
    say(size === 1 ? '1 node' : `${size} nodes`)
    clusters.set(`${size}`, await open(size))
  }
  const lines = [await measure('send'), await measure('sendToOne'), await measure('check'), await measureWakeUps()]
  const alone = clusters.get('1') as Cluster
  for (const [size, cluster] of clusters) if (cluster !== alone) await close(size, cluster)
  const send = await costOf(alone, 'send')
  await fillMailboxes(alone.database, 400)
  const take = await costOf(alone, 'check')
  return { day: today(), commit: treeOf(), machine, rounds, sizes, lines, costs: { send, take } }
}

const print = ({ head, rows }: { head: string[]; rows: string[][] }) => {
  console.log(`\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

try {
  const nodes = await run()
  print(lineCells(nodes))
  print(costCells(nodes))
  console.log(`\n${machine}, ${rounds} rounds; ${passed()} s`)
  if (options.rounds === undefined)
    writeFileSync(fileURLToPath(new URL('nodes.json', import.meta.url)), `${JSON.stringify(nodes, undefined, 2)}\n`)
} finally {
  for (const [size, cluster] of clusters) await close(size, cluster)
  await server.stop()
  rmSync(base, { recursive: true, force: true })
}
