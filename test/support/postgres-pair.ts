/** A primary of PostgreSQL and a synchronous standby, which takes over when the primary is killed; and a PgBouncer before each of them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Later } from './parley.ts'
import { type Account, type Binaries, findBinaries, initialise, unprivileged } from './postgres.ts'
import { freePort } from './redis-server.ts'

export interface Pair {
  /** Names both servers. */
  readonly url: string
  /** The same through a PgBouncer before each of them, in transaction mode. */
  poolerUrl(): Promise<string>
  /** Kills the primary, has the standby take over, and makes another standby. Returns how long no server took writes. */
  failOver(): Promise<number>
}

interface Server {
  readonly port: number
  readonly data: string
  child: ChildProcess
}

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 100,
  wal_level: 'replica',
  max_wal_senders: 8,
  wal_keep_size: '512MB',
  synchronous_commit: 'on',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '100ms',
  // The machine does not lose its power here: a process that is killed loses nothing that it has written.
  fsync: 'off',
  jit: 'off',
}

export async function startPair(later: Later): Promise<Pair> {
  const account: Account = process.getuid?.() === 0 ? unprivileged() : {}
  const folder = mkdtempSync(join(tmpdir(), 'parley-pair-'))
  chmodSync(folder, 0o755)
  const binaries = await findBinaries(folder, account)
  const password = 'not-a-secret'
  const ports = [await freePort(), await freePort()] as const
  const urlOf = (port: number) => `postgres://parley:${password}@127.0.0.1:${port}/postgres`
  let servers = 0
  const place = () => {
    const own = join(folder, `server-${++servers}`)
    mkdirSync(own, { mode: 0o755 })
    chownSync(own, account.uid ?? -1, account.gid ?? -1)
    return own
  }
  let primary = await start(binaries, account, {
    port: ports[0],
    data: initialise(place(), binaries, { account, password }),
  })
  let standby = await addStandby(ports[1])
  const poolers: ChildProcess[] = []
  later(async () => {
    for (const pooler of poolers) pooler.kill('SIGKILL')
    for (const { child } of [primary, standby]) await kill(child)
    rmSync(folder, { recursive: true, force: true })
  })

  async function admin<T>(port: number, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client(urlOf(port))
    client.on('error', () => {})
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** A copy of the running primary, which follows it; from then on a commit waits for it. */
  async function addStandby(port: number): Promise<Server> {
    return admin(primary.port, async (client) => {
      const data = join(place(), 'data')
      await client.query("SELECT pg_backup_start('standby', true)")
      // The standby asks the primary for the log, which keeps enough of it. Clients of this process go on meanwhile.
      const left = (path: string) =>
        !/\/(postmaster\.(pid|opts)|pg_replslot\/.*|pg_stat_tmp\/.*|pg_wal\/[0-9A-F]{24})$/.test(path)
      await cp(primary.data, data, { recursive: true, filter: left, verbatimSymlinks: true, force: true })
      const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()')
      writeFileSync(join(data, 'backup_label'), rows[0].labelfile)
      writeFileSync(join(data, 'standby.signal'), '')
      const follows = `host=127.0.0.1 port=${primary.port} user=parley password=${password}`
      writeFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${follows}'\n`)
      own(data, account)
      const started = await start(binaries, account, { port, data })
      await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await client.query('SELECT pg_reload_conf()')
      for (;;) {
        const { rowCount } = await client.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
        if (rowCount === 1) return started
        await sleep(20)
      }
    })
  }

  return {
    url: `postgres://parley:${password}@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/postgres?target_session_attrs=read-write`,
    async poolerUrl() {
      const before: number[] = []
      for (const port of ports) {
        const own = await freePort()
        poolers.push(await startPooler(join(folder, `pgbouncer-${own}`), account, { own, port, password }))
        before.push(own)
      }
      return `postgres://parley@127.0.0.1:${before[0]},127.0.0.1:${before[1]}/postgres?target_session_attrs=read-write`
    },
    async failOver() {
      const from = performance.now()
      const { port } = primary
      await kill(primary.child)
      await admin(standby.port, (client) => client.query('SELECT pg_promote(true, 60)'))
      const tookMs = performance.now() - from
      primary = standby
      standby = await addStandby(port)
      return tookMs
    },
  }
}

/** At once, with all of its processes. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await gone
}

function own(path: string, account: Account): void {
  if (account.uid === undefined) return
  for (const name of ['', ...readdirSync(path, { recursive: true, encoding: 'utf8' })])
    chownSync(join(path, name), account.uid, account.gid ?? -1)
  chmodSync(path, 0o700)
}

async function start(
  { postgres }: Binaries,
  account: Account,
  { port, data }: { port: number; data: string },
): Promise<Server> {
  const options = Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(postgres, ['-D', data, ...options], {
    ...account,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000)
  })
  while (!/ready to accept (read-only )?connections/.test(said)) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${said}`)
    await sleep(10)
  }
  return { port, data, child }
}

export const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0

async function startPooler(
  folder: string,
  account: Account,
  { own: listens, port, password }: { own: number; port: number; password: string },
): Promise<ChildProcess> {
  mkdirSync(folder)
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${port} dbname=postgres user=parley password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listens}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
server_login_retry = 1
`,
  )
  chmodSync(file, 0o644)
  const child = spawn('pgbouncer', [file], { ...account, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000)
  })
  while (!said.includes('process up')) {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${said}`)
    await sleep(10)
  }
  return child
}
