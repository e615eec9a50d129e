/** `npm run bench:nodes`: what 1, 2 and 4 nodes on one PostgreSQL carry, in turns, and what a message costs the database. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '../test/support/postgres.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import { machine } from './machine.ts'
import { wakeUps } from './mailbox.ts'
import { fillMailboxes } from './seed-postgres.ts'
import { cpu, type Running, startParley, startWorker, type Worker } from './server.ts'
import { makeDatabase } from './throughput.ts'
import { spread, takeTurns, walls } from './turns.ts'

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '16' } } })
const rounds = Number(options.rounds)
const sizes = [1, 2, 4]
const connections = 64
const seconds = 0.3

const calls = {
  send: '`send_to_agent`, 64 senders to 64 mailboxes',
  sendToOne: '`send_to_agent`, 64 senders to one mailbox',
  check: '`check_mail`, 64 full mailboxes',
} as const

/** Some nodes on a database of their own, and a load for each. */
interface Cluster {
  readonly database: string
  readonly nodes: readonly Running[]
  readonly loads: readonly Worker<Order, Load>[]
}

const base = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const server = await startPostgres({ durable: true })
const clusters = new Map<string, Cluster>()

/** CPU time of PostgreSQL's processes so far, in milliseconds; Linux only. */
function postgresCpu(): number {
  const children = readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]) === server.pid
      )
    } catch {
      return false
    }
  })
  return children.reduce((sum, pid) => sum + cpu(Number(pid)), 0)
}

async function open(size: number): Promise<Cluster> {
  const database = await makeDatabase(server.url, `nodes_${size}`)
  const env = { DATABASE_URL: database, SECRET_KEY: 'one key for all of the nodes' }
  const nodes: Running[] = []
  // The first one makes the tables.
  for (let n = 0; n < size; n++) nodes.push(await startParley(mkdtempSync(join(base, 'node-')), env))
  return { database, nodes, loads: nodes.map(() => startWorker('load.ts')) }
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

async function ask<T>(database: string, query: string): Promise<T> {
  const client = new Client(database)
  await client.connect()
  const { rows } = await client.query(query)
  await client.end()
  return rows[0] as T
}

/** What a call costs the node and PostgreSQL: CPU, log and disk. */
async function costOf(cluster: Cluster, call: Order['call']): Promise<string> {
  const look = async () => ({
    ...(await ask<{ wal: number; disk: number }>(
      cluster.database,
      "SELECT (pg_current_wal_lsn() - '0/0')::float8 AS wal, pg_database_size(current_database())::float8 AS disk",
    )),
    database: postgresCpu() * 1000,
    node: cluster.nodes.reduce((sum, { pid }) => sum + cpu(pid), 0) * 1000,
  })
  const before = await look()
  let made = 0
  for (let n = 0; n < 10; n++) made += (await slice(cluster, call)).calls
  const after = await look()
  const each = (of: keyof typeof after) => ((after[of] - before[of]) / made).toFixed(0)
  return `${call}: ${each('node')} µs of CPU of the node, ${each('database')} µs of PostgreSQL's, ${each('wal')} bytes of log, ${each('disk')} bytes of disk (${made} calls)`
}

try {
  for (const size of sizes) clusters.set(`${size}`, await open(size))
  console.log(`| | ${sizes.map((size) => (size === 1 ? '1 node' : `${size} nodes`)).join(' | ')} |`)
  console.log(`|---|${sizes.map(() => '---|').join('')}`)
  for (const [call, what] of Object.entries(calls) as [keyof typeof calls, string][]) {
    if (call === 'check') for (const { database } of clusters.values()) await fillMailboxes(database, 30 * rounds)
    const contenders = Object.fromEntries(
      [...clusters].map(([size, cluster]) => [size, { slice: () => slice(cluster, call) }]),
    )
    // Until the code is compiled.
    for (const contender of Object.values(contenders)) for (let n = 0; n < 4; n++) await contender.slice()
    const seen = await takeTurns(contenders, rounds)
    const figures = sizes.map((size) => {
      const { median, low, high } = spread(walls(seen[`${size}`] ?? []))
      return `${Math.round(1e6 / median)}/s (${Math.round(1e6 / high)}–${Math.round(1e6 / low)})`
    })
    console.log(`| ${what} | ${figures.join(' | ')} |`)
  }
  const waits: string[] = []
  for (const { nodes } of clusters.values()) {
    const { p50, p99 } = await wakeUps(nodes[0] as Running, nodes.at(-1) as Running, 200)
    waits.push(`p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  }
  console.log(`| send → a \`check_mail\` that waits at the last node | ${waits.join(' | ')} |`)
  const alone = clusters.get('1') as Cluster
  console.log(`\nA call with one node, text of 222 characters:\n- ${await costOf(alone, 'send')}`)
  await fillMailboxes(alone.database, 400)
  console.log(`- ${await costOf(alone, 'check')}\n${machine}, ${rounds} rounds`)
} finally {
  for (const { nodes, loads } of clusters.values()) {
    await Promise.all(loads.map((load) => load.stop()))
    await Promise.all(nodes.map((node) => node.stop()))
  }
  await server.stop()
  rmSync(base, { recursive: true, force: true })
}
