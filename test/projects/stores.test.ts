/** Which store a command, a guard or the doctor looks into, and what each says of it. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { openDb } from '../../src/db/open.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { repositoryAt } from '../support/guard.ts'
import { correspond, newDesk, plainMail } from '../support/mail.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('A store', (open, dialect) => {
  async function start() {
    const database = await open()
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: database.url }
    const server = await serveHere({ storage, env })
    return { storage, env: { ...env, HTTP_PORT: String(server.port) }, server, url: database.url }
  }

  const shown = (url: string) =>
    dialect === 'sqlite'
      ? `SQLite ${url.slice('sqlite:'.length)}`
      : `PostgreSQL ${new URL(url).host}${new URL(url).pathname}`

  verifies('cli.store.named', 'is named with its engine and place, and without a password', async () => {
    const { storage, env, server, url } = await start()
    const run = (...args: string[]) => parleyCommand({ storage }, args, { env })
    const { stdout: status } = await run('status')
    expect(status).toContain(shown(url))
    // Its note is written by a process of its own.
    expect(status).toMatch(/^unread +not known: no server runs that counts it; `parley inbox` shows the mail$/m)
    expect(status).toMatch(dialect === 'sqlite' ? /, \d+ KB\n/ : /; `parley db stats` tells its size\n/)
    expect((await run('doctor')).stdout).toContain(shown(url))
    expect(server.storage).toBe(storage)
    const password = dialect === 'postgres' ? new URL(url).password : ''
    if (password !== '') expect((await run('status', '--json')).stdout).not.toContain(password)
    await server.stop()
  })

  verifies('cli.store.other', 'that is not the one of the running server is told, by commands and doctor', async () => {
    const [here, there] = [await start(), await start()]
    await here.server.stop()
    // Test databases are copies of one; a copy of a PostgreSQL database is not told apart from it.
    const db = await openDb(here.url)
    await db.tx((tx) =>
      tx.all(sql`UPDATE meta SET value = ${'ab'.repeat(16)} WHERE key = 'uuid_namespace' AND ${dialect} = 'postgres'`),
    )
    await db.close()
    const env = { ...here.env, HTTP_PORT: there.env.HTTP_PORT }
    const warning = `warning: the server at ${there.server.url} works on another store than this one, ${shown(here.url)}.`
    for (const command of ['list-projects', 'agents', 'inbox']) {
      const listed = await parleyCommand(here, [command], { env })
      expect([command, listed]).toMatchObject([command, { code: 0, stderr: expect.stringContaining(warning) }])
    }
    expect((await parleyCommand(here, ['doctor'], { env })).stdout).toMatch(/warning {2}port .*another store/)
    // On the same database from another folder it is the same store.
    const elsewhere = await temporaryFolder()
    expect(await parleyCommand({ storage: elsewhere }, ['list-projects'], { env: there.env })).toMatchObject({
      code: 0,
      stderr: '',
    })
    await there.server.stop()
  })

  verifies('cli.import.store', 'is made by an import where there is none, and by no file that is none', async () => {
    const { storage, env, server } = await start()
    const desk = await newDesk(server)
    await desk.send({ thread_id: 'T-1' })
    const file = join(storage, 'project.jsonl')
    await parleyCommand({ storage }, ['export', desk.project, '--format', 'json', '--output', file], { env })
    await server.stop()
    const empty = await open({ empty: true })
    const fresh = join(await temporaryFolder(), 'new')
    const made = { env: dialect === 'sqlite' ? {} : { DATABASE_URL: empty.url } }
    await writeFile(join(storage, 'none.jsonl'), '# no export\n')
    for (const none of ['none.jsonl', 'missing.jsonl']) {
      expect(await parleyCommand({ storage: fresh }, ['import', join(storage, none)], made)).toMatchObject({ code: 1 })
      expect(existsSync(fresh)).toBe(false)
    }
    expect(await parleyCommand({ storage: fresh }, ['import', file], made)).toMatchObject({ code: 0 })
    const listed = await parleyCommand({ storage: fresh }, ['list-projects'], made)
    expect(listed.stdout).toContain(desk.project)
  })

  verifies('cli.guard.here', 'gets a guard of the current repository, whose project is made', async () => {
    const { storage, env, server } = await start()
    const repository = await repositoryAt(join(await temporaryFolder(), 'app'))
    const run = (...args: string[]) => parleyCommand({ storage }, ['guard', ...args], { env, cwd: repository.folder })
    expect(await run('install')).toMatchObject({
      code: 0,
      stdout: `${repository.hook}\n`,
      stderr: expect.stringMatching(/Installed for the project app-[0-9a-f]{6}\./),
    })
    const status = await run('status')
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/guards the reservations of app-/) })
    expect(status.stdout).toContain(dialect === 'sqlite' ? shown(env.DATABASE_URL) : `PostgreSQL, by ${server.url}/mcp`)
    const mail = plainMail(server)
    await correspond(() => mail).people(repository.folder, 'GreenCastle')
    await repository.write({ 'a.txt': 'a' })
    const unknown = await repository.commit('GrenCastle')
    expect(unknown.code).toBe(0)
    expect(unknown.said).toMatch(/warning: the project app-\w+ has no agent GrenCastle, which AGENT_NAME names\./)
    await repository.write({ 'b.txt': 'b' })
    const known = await repository.commit('greencastle')
    expect(known).toMatchObject({ code: 0, said: expect.not.stringContaining('parley guard') })
    await server.stop()
  })
})

verifies('cli.guard.other-store', 'A guard says that the server on its port works on another store', async () => {
  const storage = await temporaryFolder()
  const first = await serveHere({ storage })
  const repository = await repositoryAt(join(await temporaryFolder(), 'app'))
  const env = { HTTP_PORT: String(first.port) }
  const installed = await parleyCommand({ storage }, ['guard', 'install'], { env, cwd: repository.folder })
  expect(installed).toMatchObject({ code: 0 })
  await repository.write({ 'a.txt': 'a' })
  expect((await repository.commit()).said).not.toContain('another store')
  await first.stop()
  const other = await serveHere({ storage: await temporaryFolder(), env })
  await repository.write({ 'b.txt': 'b' })
  const said = await repository.commit()
  expect(said).toMatchObject({
    code: 0,
    said: expect.stringMatching(/parley guard: warning: the server at .* works on another store/),
  })
  await other.stop()
})

verifies('cli.doctor.unborn', 'Before the first start nothing is wrong, and nothing is made', async () => {
  const home = await temporaryFolder()
  const env = { HOME: home, STORAGE_ROOT: '', HTTP_PORT: '0' }
  const unborn = await parleyCommand({ storage: home }, ['doctor'], { env })
  expect(unborn).toMatchObject({ code: 0, stderr: '' })
  expect(unborn.stdout).toMatch(/^ok {7}storage .*\.parley is not there yet; `parley serve` makes it$/m)
  expect(existsSync(join(home, '.parley'))).toBe(false)
  const named = await parleyCommand({ storage: join(home, 'named') }, ['doctor'], { env: { HTTP_PORT: '0' } })
  expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('(STORAGE_ROOT, environment)') })
})

verifies('serve.config.sourced', 'Each fault of the settings names where they come from', async () => {
  const storage = await temporaryFolder()
  const file = join(storage, 'settings.env')
  await writeFile(file, 'HTTP_JWT_ENABLED=true\nHTTP_PORT=abc\n')
  const run = (env: Record<string, string>) =>
    parleyCommand({ storage }, ['list-projects'], { env: { PARLEY_ENV_FILE: file, ...env } })
  expect((await run({})).stderr).toContain(`HTTP_PORT must be`)
  expect((await run({})).stderr).toContain(`(${file})`)
  expect((await run({ HTTP_PORT: '0', HTTP_JWT_SECRET: 'short' })).stderr).toContain(`(HTTP_JWT_SECRET: environment)`)
  expect((await run({ HTTP_PORT: '0' })).stderr).toContain(`(HTTP_JWT_ENABLED: ${file})`)
  // Some show only when they are used.
  await writeFile(join(storage, 'later.env'), 'HTTP_TLS_CERT=/none\nHTTP_TLS_KEY=/none\n')
  const later = { PARLEY_ENV_FILE: join(storage, 'later.env') }
  const served = await parleyCommand({ storage }, ['serve'], { env: { ...later, HTTP_PORT: '0' } })
  expect(served).toMatchObject({ code: 2, stderr: expect.stringContaining(`HTTP_TLS_CERT: ${later.PARLEY_ENV_FILE}`) })
  const bridged = await parleyCommand({ storage }, ['serve'], { env: { HTTP_PORT: '0', BRIDGE_CONFIG: '/none' } })
  expect(bridged).toMatchObject({ code: 2, stderr: expect.stringContaining('(BRIDGE_CONFIG: environment)') })
  const shown = await parleyCommand({ storage }, ['token', 'new'])
  expect(shown).toMatchObject({ code: 0 })
  const config = await parleyCommand({ storage }, ['config', 'show'])
  expect(config.stdout).toMatch(/^HTTP_BEARER_TOKEN\t\(hidden\)\t.*operator\.token$/m)
})
