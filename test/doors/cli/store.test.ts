/** Where the commands for people find their store, and that they make none. */
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tableNames } from '../../../src/db/dialect.ts'
import { openDb } from '../../../src/db/open.ts'
import { parleyCommand } from '../../support/cli.ts'
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

verifies('serve.config.people', 'every command for people finds the store by the .env of its folder', async () => {
  const parley = await serveHere()
  await mailbox(parley, 'alice').check()
  const folder = await temporaryFolder()
  await writeFile(join(folder, '.env'), `STORAGE_ROOT=${parley.storage}\n`)
  const unset = { STORAGE_ROOT: '' }
  for (const args of commands) {
    const run = await parleyCommand({ storage: folder }, args, { env: unset, cwd: folder })
    expect({ args, ...run }).toMatchObject({ args, code: 0 })
  }
  await writeFile(join(folder, 'other.env'), 'STORAGE_ROOT=nowhere\n')
  const env = { ...unset, PARLEY_ENV_FILE: 'other.env' }
  expect(await parleyCommand({ storage: folder }, ['list-projects'], { env, cwd: folder })).toMatchObject({ code: 1 })
  expect((await readdir(folder)).sort()).toEqual(['.env', 'other.env'])
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
  ['import', 'project.jsonl'],
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
      stderr: expect.stringMatching(
        /^There is no store of Parley at .*mistyped.*\n.*STORAGE_ROOT.*`parley serve`.*\n$/,
      ),
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
      stderr: expect.stringMatching(/^There is no store of Parley at /),
    })
    const db = await openDb(url)
    expect(await db.all(tableNames(db))).toEqual([])
    await db.close()
  })
})
