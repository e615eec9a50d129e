/** Where the commands for people find their store, and that they make none. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tableNames } from '../../../src/db/dialect.ts'
import { openDb } from '../../../src/db/open.ts'
import { settings } from '../../../src/settings/all.ts'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { eachEngine } from '../../support/engines.ts'
import { mailbox, serveHere, spawnParley, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

/** Every command that a person types, but for `serve`. */
const commands = [
  ['topics', 'list'],
  ['list-projects'],
  ['list-acks', '--project', 'commons', '--agent', 'alice'],
  ['acks', 'pending', 'commons', 'alice'],
  ['file_reservations', 'list', 'commons'],
  ['keys', 'create', 'alice'],
  ['migrate'],
]

verifies('serve.config.people', 'every command for people finds the store by the .env of its user', async () => {
  const parley = await serveHere()
  await mailbox(parley, 'alice').check()
  const [home, folder] = [await temporaryFolder(), await temporaryFolder()]
  await mkdir(join(home, '.parley'))
  await writeFile(join(home, '.parley', '.env'), `STORAGE_ROOT=${parley.storage}\n`)
  // For another program.
  await writeFile(join(folder, '.env'), 'STORAGE_ROOT=nowhere\n')
  const unset = { STORAGE_ROOT: '', HOME: home }
  for (const args of commands) {
    const run = await parleyCommand({ storage: folder }, args, { env: unset, cwd: folder })
    expect({ args, ...run }).toMatchObject({ args, code: 0 })
  }
  await writeFile(join(folder, 'other.env'), 'STORAGE_ROOT=nowhere\n')
  const env = { ...unset, PARLEY_ENV_FILE: 'other.env' }
  expect(await parleyCommand({ storage: folder }, ['list-projects'], { env, cwd: folder })).toMatchObject({ code: 1 })
  expect((await readdir(folder)).sort()).toEqual(['.env', 'other.env'])
})

verifies('cli.config.shown', 'every setting is shown with where it comes from, and no secret', async () => {
  const home = await temporaryFolder()
  await mkdir(join(home, '.parley'))
  const file = join(home, '.parley', '.env')
  await writeFile(file, 'HTTP_PORT=4711\nHTTP_BEARER_TOKEN=hunter2-hunter2-hunter2\n')
  const env = { HOME: home, LOG_LEVEL: 'warn', DATABASE_URL: 'postgres://me:hunter2@db.example/parley' }
  const { stdout } = await parleyCommand({ storage: home }, ['config', 'show', '--json'], { env })
  const shown = (JSON.parse(stdout) as { settings: { name: string }[] }).settings
  expect(shown.map(({ name }) => name)).toEqual(Object.keys(settings))
  expect(shown).toEqual(
    expect.arrayContaining([
      { name: 'HTTP_PORT', value: '4711', source: file },
      { name: 'HTTP_BEARER_TOKEN', value: '(hidden)', source: file },
      { name: 'LOG_LEVEL', value: 'warn', source: 'environment' },
      { name: 'MAX_WAIT_SECONDS', value: '50', source: 'default' },
    ]),
  )
  expect(stdout).not.toContain('hunter2')
  const text = await printedBy({ storage: home }, ['config', 'show'])
  expect(text).toMatch(/^LOG_LEVEL\s/m)
})

verifies(
  'serve.config.people',
  'a client that starts the bus in a folder does not get the .env of that folder',
  async () => {
    const [home, folder, other] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()]
    await writeFile(join(folder, '.env'), `STORAGE_ROOT=${other}\nHTTP_PORT=no number\n`)
    const bus = spawnParley(['bus'], { HOME: home }, { cwd: folder })
    const ping = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ping', arguments: {} } }
    bus.child.stdin.write(`${JSON.stringify(ping)}\n`)
    await bus.printed(/"ok":true/)
    bus.child.stdin.end()
    expect(await bus.gone).toBe(0)
    expect(existsSync(join(home, '.parley', 'parley.sqlite3'))).toBe(true)
    expect(await readdir(other)).toEqual([])
  },
)

/** They need a store too, and cannot be tried beside a server or again and again. */
const others = [
  ['export', 'commons'],
  ['backup', 'backup.tar.gz'],
  ['clear-and-reset-everything', '--force'],
]

verifies('cli.store.none', 'where there is no store every command says so, and leaves nothing behind', async () => {
  const storage = join(await temporaryFolder(), 'mistyped')
  for (const args of [...commands, ...others]) {
    const run = await parleyCommand({ storage }, args)
    expect({ args, ...run }).toEqual({
      args,
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There is no Parley store at .*mistyped.*\n.*STORAGE_ROOT.*`parley serve`.*\n$/),
    })
    expect(run.stderr).not.toContain('file_reservations')
    expect(existsSync(storage)).toBe(false)
  }
})

eachEngine('An empty database', (open, dialect) => {
  verifies('cli.store.none', 'is no store, and stays empty', async () => {
    const { url } = await open({ empty: true })
    const file = url.slice('sqlite:'.length)
    if (dialect === 'sqlite') await writeFile(file, '')
    const storage = await temporaryFolder()
    const run = await parleyCommand({ storage }, ['list-projects'], { env: { DATABASE_URL: url } })
    expect(run).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There is no Parley store at /),
    })
    const db = await openDb(url)
    expect(await db.all(tableNames(db))).toEqual([])
    await db.close()
  })
})
