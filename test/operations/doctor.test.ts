/** `parley doctor`: nothing to say of a sound installation, and a line for each planted fault. */
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { examine } from '../../src/app/doctor.ts'
import { startServer } from '../../src/app/serve.ts'
import { migrations } from '../../src/db/migrations/all.ts'
import type { Finding } from '../../src/doors/cli/operating/doctor.ts'
import { loadConfig, readSettings } from '../../src/settings/read.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { bareEnv, mailbox, serveHere, temporaryFolder } from '../support/parley.ts'
import { initRepository } from '../support/repository.ts'
import { verifies } from '../support/verifies.ts'

interface Report {
  sound: boolean
  findings: Finding[]
}

async function doctor(storage: string, env: Record<string, string> = {}) {
  const run = await parleyCommand({ storage }, ['doctor', '--json'], { env: { HTTP_PORT: '0', ...env } })
  const report = JSON.parse(run.stdout) as Report
  const wrong = report.findings.filter(({ status }) => status !== 'ok')
  expect(run.code).toBe(report.sound ? 0 : 1)
  for (const { advice } of wrong) expect(advice).toMatch(/\w/)
  return { ...report, wrong, code: run.code }
}

/** A store that was used, and that nobody has open. */
async function aStore(): Promise<string> {
  const storage = await temporaryFolder()
  const server = await serveHere({ storage })
  await mailbox(server, 'alice').send('bob', 'x')
  await server.stop()
  await chmod(storage, 0o700)
  return storage
}

const contents = async (folder: string) => {
  const files = (await readdir(folder, { recursive: true })).sort()
  const facts = []
  for (const name of files) {
    const { mode, size, mtimeMs } = await stat(join(folder, name))
    facts.push({ name, mode, size, mtimeMs })
  }
  return facts
}

/** The servers of tests are in a hurry. */
const lasting = (url: string, dialect: string) =>
  dialect === 'postgres' ? `${url}${url.includes('?') ? '&' : '?'}options=-csynchronous_commit%3Don` : url

eachEngine('A sound installation', (open, dialect) => {
  verifies('cli.doctor.sound', 'gives no finding, with a server and without', async () => {
    const url = lasting((await open()).url, dialect)
    const storage = await temporaryFolder()
    await chmod(storage, 0o700)
    const env = { DATABASE_URL: url }
    const server = await serveHere({ storage, env })
    await mailbox(server, 'alice').send('bob', 'x')
    const served = await doctor(storage, { ...env, HTTP_PORT: String(server.port) })
    expect(served.wrong).toEqual([])
    expect(served.findings.find(({ check }) => check === 'port')?.says).toContain('a Parley serves')
    await server.stop()
    const { wrong, sound, findings } = await doctor(storage, env)
    expect({ wrong, sound }).toEqual({ wrong: [], sound: true })
    const checks = ['runtime', 'git', 'settings', 'storage', 'modes', 'room', 'key', 'database', 'migrations', 'clock']
    // Which clients are installed is this machine's.
    const seen = findings.map(({ check }) => check).filter((check) => check !== 'client')
    expect(new Set(seen)).toEqual(new Set([...checks, 'archive', 'port']))
  })
})

verifies('cli.doctor.sound', 'it makes and changes nothing, not even where there is nothing', async () => {
  const storage = await aStore()
  const before = await contents(storage)
  expect(await doctor(storage)).toMatchObject({ sound: true })
  expect(await contents(storage)).toEqual(before)
  const folder = await temporaryFolder()
  // It may be before the first start: a warning, and no fault (cli.doctor.unborn).
  expect((await doctor(join(folder, 'mistyped'))).findings).toContainEqual(
    expect.objectContaining({ check: 'storage', status: 'warning' }),
  )
  expect(await readdir(folder)).toEqual([])
})

verifies('cli.doctor.clients', 'and a warning where nobody trusted its hooks', async () => {
  const storage = await temporaryFolder()
  await chmod(storage, 0o700)
  const server = await serveHere({ storage })
  await mailbox(server, 'bob', { meta: { threadId: 'thread' } }).check()
  const hook = (client: string, session_id: string) =>
    fetch(`${server.url}/hooks/${client}/Stop?agent=bob`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session_id }),
    })
  for (const session of ['one', 'two']) await hook('claude', session)
  await mkdir(join(storage, 'bin'))
  await writeFile(join(storage, 'bin', 'claude'), '')
  const env = { HTTP_PORT: String(server.port), PATH: `${join(storage, 'bin')}:${process.env.PATH}` }
  const clients = async () =>
    (await doctor(storage, env)).findings.filter(({ says }) => /^(claude|codex): .*session/.test(says))
  await expect.poll(clients, { timeout: 10_000 }).toEqual([
    {
      check: 'client',
      status: 'ok',
      says: 'claude: installed, not set up, 2 sessions, no waiter now, hooks last heard just now',
    },
    {
      check: 'client',
      status: 'warning',
      says: expect.stringMatching(/1 session, no waiter now\. It calls Parley, and none of its hooks was heard\.$/),
      advice: expect.stringContaining('Trust all'),
    },
  ])
  await hook('codex', 'thread')
  await server.stop()
  expect((await clients()).map(({ status }) => status)).toEqual(['ok', 'ok'])
  const init = (...more: string[]) =>
    parleyCommand({ storage }, ['init', 'claude', '--user', '--yes', ...more], { cwd: storage })
  for (const [more, words] of [
    [['--no-hooks'], 'set up, no hooks'],
    [[], 'set up, hooks in place'],
    [['--uninstall'], 'not set up'],
  ] as const) {
    await init(...more)
    expect((await clients())[0]?.says).toContain(`claude: installed, ${words}, 2 sessions`)
  }
  // As Codex itself notes it.
  await parleyCommand({ storage }, ['init', 'codex', '--user', '--yes', '--agent', 'bob'], { cwd: storage })
  const config = join(storage, '.codex', 'config.toml')
  for (const event of ['session_start', 'user_prompt_submit', 'post_tool_use', 'stop']) {
    expect((await clients())[1]).toMatchObject({ status: 'warning', says: expect.stringContaining('trusts them') })
    await appendFile(config, `\n[hooks.state."${config}:${event}:0:0"]\ntrusted_hash = "sha256:00"\n`)
  }
  expect((await clients())[1]?.status).toBe('ok')
})

const planted: Record<
  string,
  {
    check: string
    status: 'warning' | 'fault'
    says: RegExp
    /** May answer with settings. */
    plant(storage: string): Promise<unknown>
  }
> = {
  'a setting that cannot be used': {
    check: 'settings',
    status: 'fault',
    says: /MAX_WAIT_SECONDS/,
    plant: async () => ({ MAX_WAIT_SECONDS: 'often' }),
  },
  'a setting that is nearly one': {
    check: 'settings',
    status: 'warning',
    says: /STORAGE_ROOTS/,
    plant: async () => ({ STORAGE_ROOTS: 'x' }),
  },
  'no database': {
    check: 'database',
    status: 'fault',
    says: /no database/,
    plant: (storage) => rm(join(storage, 'parley.sqlite3')),
  },
  'the database of another program': {
    check: 'database',
    status: 'fault',
    says: /not a database/,
    plant: (storage) => writeFile(join(storage, 'parley.sqlite3'), 'x'.repeat(5000)),
  },
  'a damaged database': {
    check: 'database',
    status: 'fault',
    says: /damaged|malformed/,
    async plant(storage) {
      const file = join(storage, 'parley.sqlite3')
      const bytes = await readFile(file)
      bytes.fill(0xaa, 4096 * 6, 4096 * 30)
      await writeFile(file, bytes)
    },
  },
  'a row that refers to none': {
    check: 'database',
    status: 'fault',
    says: /refers to no row of agents/,
    plant: async (storage) => execute(storage, 'PRAGMA foreign_keys = OFF', 'UPDATE deliveries SET recipient_id = 999'),
  },
  'a database of an older Parley': {
    check: 'migrations',
    status: 'warning',
    says: /older/,
    plant: async (storage) => execute(storage, `DELETE FROM parley_migrations WHERE id = ${migrations.at(-1)?.id}`),
  },
  'a database of a newer Parley': {
    check: 'migrations',
    status: 'fault',
    says: /newer/,
    plant: async (storage) => execute(storage, "INSERT INTO parley_migrations VALUES (9999, 'x', 0, NULL)"),
  },
  'a database of the next Parley': {
    check: 'migrations',
    status: 'warning',
    says: /newer Parley, beside which/,
    plant: async (storage) => execute(storage, "INSERT INTO parley_migrations VALUES (9999, 'x', 0, 1)"),
  },
  'a clock that is behind': {
    check: 'clock',
    status: 'fault',
    says: /clock says/,
    plant: async (storage) => execute(storage, 'UPDATE changes SET at = at + 86400000'),
  },
  'files that others may read': {
    check: 'modes',
    status: 'warning',
    says: /parley\.sqlite3/,
    plant: (storage) => chmod(join(storage, 'parley.sqlite3'), 0o644),
  },
  'a weak key': {
    check: 'key',
    status: 'fault',
    says: /too weak/,
    plant: (storage) => writeFile(join(storage, 'secret.key'), 'abc'),
  },
  'a damaged archive': {
    check: 'archive',
    status: 'fault',
    says: /web-1/,
    async plant(storage) {
      const folder = join(storage, 'projects', 'web-1')
      await initRepository(folder)
      await writeFile(join(folder, '.git', 'refs', 'heads', 'main'), `${'ab'.repeat(20)}\n`)
    },
  },
  'an archive whose repository is gone': {
    check: 'archive',
    status: 'fault',
    says: /web-1 is gone: there is no \.git/,
    plant: (storage) => mkdir(join(storage, 'projects', 'web-1', 'messages'), { recursive: true }),
  },
  'a database of 0 bytes': {
    check: 'database',
    status: 'fault',
    says: /empty: \d+ changes were acknowledged, the last of them at 2/,
    plant: (storage) => writeFile(join(storage, 'parley.sqlite3'), ''),
  },
  'a port that another program has': {
    check: 'port',
    status: 'fault',
    says: /Another program listens/,
    async plant() {
      const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      onTestFinished(() => void server.close())
      return { HTTP_PORT: String((server.address() as { port: number }).port) }
    },
  },
  'no git': {
    check: 'git',
    status: 'warning',
    says: /no git/,
    plant: async () => {
      const { PATH } = process.env
      process.env.PATH = '/nowhere'
      onTestFinished(() => {
        process.env.PATH = PATH
      })
    },
  },
}

for (const [name, { check, status, says, plant }] of Object.entries(planted))
  verifies('cli.doctor.finds', name, async () => {
    const storage = await aStore()
    const env = ((await plant(storage)) ?? {}) as Record<string, string>
    const { wrong, sound } = await doctor(storage, env)
    expect(wrong).toContainEqual(expect.objectContaining({ check, status, says: expect.stringMatching(says) }))
    expect(sound).toBe(status === 'warning')
  })

eachEngine('A database that is not there', (open, dialect) => {
  if (dialect === 'postgres')
    verifies(
      'serve.failover.told',
      'a database that would lose acknowledged work is named by doctor and start',
      async () => {
        const { url } = await open()
        const storage = await temporaryFolder()
        const { wrong } = await doctor(storage, { DATABASE_URL: url })
        const says = expect.stringContaining('synchronous_commit is off')
        expect(wrong).toContainEqual(expect.objectContaining({ check: 'database', status: 'warning', says }))
        const { host } = new URL(url)
        const both = lasting(url, dialect).replace(host, `${host},${host}`)
        const lines: string[] = []
        const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
        const server = await startServer(loadConfig(bareEnv(storage, { HTTP_PORT: '0', DATABASE_URL: both })), log)
        await server.stop()
        expect(lines).toEqual([expect.stringContaining('a failover loses the last acknowledged work')])
      },
    )

  verifies('cli.doctor.finds', 'is a fault with the way out', async () => {
    const { url } = await open({ empty: true })
    const wrongUrl = dialect === 'postgres' ? new URL('/nowhere', url).href : url
    const storage = await temporaryFolder()
    const { wrong } = await doctor(storage, { DATABASE_URL: wrongUrl })
    expect(wrong).toContainEqual(expect.objectContaining({ check: 'database', status: 'fault' }))
  })
})

verifies('cli.doctor.finds', 'people read a line for each, with what to do below', async () => {
  const storage = await aStore()
  await writeFile(join(storage, 'secret.key'), 'abc')
  const run = await parleyCommand({ storage }, ['doctor'], { env: { HTTP_PORT: '0' } })
  expect(run.code).toBe(1)
  expect(run.stdout).toMatch(/^ok +runtime +Node 2\d/)
  expect(run.stdout).toMatch(/FAULT +key +The key in .*secret\.key is too weak.*\n +→ Delete the file/)
  expect(run.stderr).toContain('1 fault')
})

verifies('cli.doctor.sound', 'it looks at each thing only while it is asked for', async () => {
  const storage = await aStore()
  const first = await examine(() => readSettings(bareEnv(storage, { HTTP_PORT: '0' }))).next()
  expect(first.value).toMatchObject({ check: 'runtime', status: 'ok' })
})

function execute(storage: string, ...statements: string[]): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  for (const statement of statements) db.exec(statement)
  db.close()
}
