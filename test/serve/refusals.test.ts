/** Starts that cannot be: databases that are not this Parley's, settings that are wrong, commands that do not exist. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { version } from '../../src/app/version.ts'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const table = 'CREATE TABLE parley_migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)'
const future = "INSERT INTO parley_migrations (id, name, applied_at) VALUES (9999, 'from the future', 0)"
/** How every Parley marks its files ("Parl"). */
const mark = 'PRAGMA application_id = 0x5061726c'

/** In its folder, where it looks for `.env`. */
const serve = (storage: string) => parleyCommand({ storage }, ['serve', '--port', '0'], { cwd: storage })

describe('A database', () => {
  const cases: [what: string, make: (file: string) => unknown, reason: string][] = [
    ['of a newer Parley', (file) => execute(file, mark, 'PRAGMA journal_mode = WAL', table, future), 'a newer Parley'],
    ['of a newer Parley, made anew from a dump', (file) => execute(file, table, future), 'a newer Parley'],
    ['of another program', (file) => execute(file, 'CREATE TABLE notes (text TEXT)'), 'another program'],
    [
      'of another program, in WAL mode',
      (file) => execute(file, 'PRAGMA journal_mode = WAL', 'CREATE TABLE notes (text TEXT)'),
      'another program',
    ],
    ['that is none, but a short text', (file) => writeFile(file, 'Dear diary!'), 'not a database'],
    ['that is none, but a long text', (file) => writeFile(file, 'Dear diary! '.repeat(1000)), 'not a database'],
  ]

  for (const [what, make, reason] of cases)
    verifies('serve.start.newer-database', `${what} is named, refused and left as it is`, async () => {
      const storage = await temporaryFolder()
      const file = join(storage, 'parley.sqlite3')
      await make(file)
      const before = await readFile(file)
      const run = await serve(storage)
      expect(run).toMatchObject({ code: 1, stdout: '' })
      expect(run.stderr).toMatch(/^.+\n.*DATABASE_URL.*\n$/)
      expect(run.stderr).toContain(file)
      expect(run.stderr).toContain(reason)
      expect((await readFile(file)).equals(before)).toBe(true)
      expect((await readdir(storage)).filter((name) => name.startsWith('parley'))).toEqual(['parley.sqlite3'])
    })

  verifies('serve.start.newer-database', 'that a newer Parley has worked with keeps all its mail', async () => {
    const parley = await serveHere()
    await mailbox(parley, 'alice').send('bob', 'hello')
    await parley.stop()
    const file = join(parley.storage, 'parley.sqlite3')
    execute(file, future)
    const before = await readFile(file)
    const run = await serve(parley.storage)
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect((await readFile(file)).equals(before)).toBe(true)

    execute(file, 'DELETE FROM parley_migrations WHERE id = 9999')
    const again = await serveHere({ storage: parley.storage })
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'hello' })
  })

  test('that is damaged is one clear message', async () => {
    const storage = await temporaryFolder()
    const file = join(storage, 'parley.sqlite3')
    execute(file, mark, table)
    const bytes = await readFile(file)
    await writeFile(file, bytes.fill(0xaa, 100))
    const run = await serve(storage)
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^Parley cannot use its database: .*\n.*DATABASE_URL.*\n$/)
    expect((await readFile(file)).equals(bytes)).toBe(true)
  })
})

describe('Settings', () => {
  const refused = async (env: Record<string, string>, args: string[] = []) => {
    const storage = await temporaryFolder()
    return parleyCommand({ storage }, ['serve', ...args], { env, cwd: storage })
  }

  verifies('serve.config.faults', 'that are wrong are all named in one message, without their secrets', async () => {
    const run = await refused({
      HTTP_PORT: 'eighty',
      HTTP_BEARER_TOKEN: 'secret one',
      SECRET_KEY: 'secret-two',
      DATABASE_URL: 'mysql://me:secret-three@host/db',
      LOG_LEVEL: 'loud',
      MAX_WAIT_SECONDS: '-1',
      HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'perhaps',
    })
    expect(run).toMatchObject({ code: 2, stdout: '' })
    const [first, ...lines] = run.stderr.trimEnd().split('\n')
    expect(first).toBe('Parley cannot start with these settings:')
    expect(lines.pop()).toContain('docs/settings.md')
    expect(lines.map((line) => /^ {2}- ([A-Z_]+) must /.exec(line)?.[1]).sort()).toEqual([
      'DATABASE_URL',
      'HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED',
      'HTTP_BEARER_TOKEN',
      'HTTP_PORT',
      'LOG_LEVEL',
      'MAX_WAIT_SECONDS',
      'SECRET_KEY',
    ])
    expect(run.stderr).toContain('"eighty"')
    expect(run.stderr).not.toContain('secret')
  })

  const neverMatching: Record<string, string[]> = {
    HTTP_PATH: ['/../mcp', '/./mcp', '/.well-known/mcp', '/a/../b', 'mcp', '//', `/${'x'.repeat(300)}`],
    HTTP_ALLOWED_HOSTS: [
      'https://hub.example',
      'hub.example:8765',
      '*',
      '*.example',
      'a/b',
      'me@hub',
      'a b',
      '1',
      '[::1]:80',
    ],
    HTTP_ALLOWED_ORIGINS: [
      'hub.example',
      'https://hub.example/',
      'null',
      '*',
      'https://*.example',
      'https://me@hub.example',
    ],
  }
  for (const [name, values] of Object.entries(neverMatching))
    verifies('serve.config.http', `of ${name} that nothing could ever match are faults`, async () => {
      for (const value of values) {
        const run = await refused({ [name]: value })
        expect(run, value).toMatchObject({ code: 2, stdout: '' })
        expect(run.stderr).toMatch(new RegExp(`^ {2}- ${name} must `, 'm'))
        expect(run.stderr).toContain(JSON.stringify(value))
      }
    })

  verifies('serve.config.faults', 'given as flags are judged alike', async () => {
    const run = await refused({}, ['--port', '65536'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('HTTP_PORT must be a whole number from 0 to 65535, not "65536"')
  })

  verifies('serve.config.faults', 'from a file that does not exist are a fault too', async () => {
    const run = await refused({ PARLEY_ENV_FILE: 'nowhere.env', HTTP_PORT: 'x' })
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('PARLEY_ENV_FILE names "nowhere.env", which does not exist')
    expect(run.stderr).toContain('HTTP_PORT')
  })

  verifies('serve.config.sources', 'come from .env in ~/.parley, and the environment wins', async () => {
    const storage = await temporaryFolder()
    const text = 'HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED=false\nHTTP_BEARER_TOKEN="from the file"\n'
    await mkdir(join(storage, '.parley'))
    await writeFile(join(storage, '.parley', '.env'), text)
    const token = 'from-the-environment'
    const parley = await serveHere({ storage, env: { HTTP_BEARER_TOKEN: token } })
    await expect(mailbox(parley, 'alice').check()).rejects.toThrow('401')
    const headers = { Authorization: `Bearer ${token}` }
    expect(await mailbox(parley, 'alice', { headers }).check()).toBeNull()
  })

  verifies(
    'serve.config.sources',
    'come from the file that PARLEY_ENV_FILE names, and not from the working folder',
    async () => {
      const storage = await temporaryFolder()
      await writeFile(join(storage, '.env'), 'HTTP_PORT=not used\n')
      await writeFile(join(storage, 'other.env'), 'MAILBOX_MAX_DEPTH=1\n')
      const parley = await startParley({ storage, env: { PARLEY_ENV_FILE: 'other.env' } })
      const alice = mailbox(parley, 'alice')
      await alice.send('bob', 'one')
      await expect(alice.send('bob', 'two')).rejects.toMatchObject({ code: 'MAILBOX_FULL' })
    },
  )
})

describe('The command line', () => {
  const run = async (...args: string[]) => parleyCommand({ storage: await temporaryFolder() }, args)

  test('explains itself', async () => {
    const help = await run('--help')
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toMatch(/^ {2}serve\|serve-http /m)
    const serve = await run('serve', '--help')
    expect(serve).toMatchObject({ code: 0, stderr: '' })
    expect(serve.stdout).toMatch(/--host <address>.*\n.*--port <number>/)
  })

  test('tells its version', async () => {
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([
    [['swerve'], "unknown command 'swerve'"],
    [['serve', '--prot', '1'], "unknown option '--prot'"],
    [['serve', 'now'], 'too many arguments'],
    [['serve', '--port'], 'argument missing'],
    [[], 'Usage: parley'],
  ])('refuses %j and says where to look', async (args, reason) => {
    const refused = await run(...args)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(reason)
    expect(refused.stderr).toContain(args.length === 0 ? 'Usage: parley' : '--help')
  })
})

function execute(file: string, ...statements: string[]): void {
  const db = new DatabaseSync(file)
  for (const statement of statements) db.exec(statement)
  db.close()
}
