/** `parley guard …` as people and scripts run it, and guards whose store or program is gone. */
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { eachEngine } from '../../support/engines.ts'
import { guardedProject, guardedRepository, repositoryAt } from '../../support/guard.ts'
import { serveHere, shareServer, startParley, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const guard = (...args: string[]) => parleyCommand(parley(), ['guard', ...args])

verifies('cli.guard.commands', 'status shows what is installed, and what keeps it from working', async () => {
  const { folder, hook, uninstall } = await guardedRepository(parley())
  const status = async () => JSON.parse((await guard('status', folder, '--json')).stdout)
  const store = expect.stringMatching(/^SQLite \/.*parley\.sqlite3$/)
  const well = { hook, installed: true, project: expect.stringMatching(/^code-/), store, chained: false, faults: [] }
  expect(await status()).toEqual(well)
  expect(await guard('status', folder)).toMatchObject({ code: 0, stdout: expect.stringContaining(': guards the') })
  await chmod(hook, 0o644)
  expect(await guard('status', folder)).toMatchObject({ code: 1, stdout: expect.stringContaining('not executable') })
  await writeFile(hook, (await readFile(hook, 'utf8')).replaceAll(process.execPath, '/srv/gone/node'))
  expect((await status()).faults).toContain('Node is not at /srv/gone/node any more.')
  await uninstall(folder)
  expect(await status()).toEqual({ hook, installed: false, project: null, store: null, chained: false, faults: [] })
  expect(await guard('status', folder)).toMatchObject({ code: 1, stderr: expect.stringContaining('guard install') })
})

verifies('cli.guard.commands', 'check says what the guard would, installed or not', async () => {
  const { folder, write, git, reserve, uninstall } = await guardedRepository(parley())
  const check = (env: Record<string, string>, ...args: string[]) =>
    parleyCommand(parley(), ['guard', 'check', folder, ...args], { env })
  await reserve('GreenCastle', ['src/**'])
  await write({ 'src/a.ts': '1' })
  await git('add', '-A')
  const others = { code: 1, stderr: expect.stringMatching(/held by GreenCastle[\s\S]*would be stopped/) }
  expect(await check({ AGENT_NAME: 'BlueLake' })).toMatchObject(others)
  expect(await check({ AGENT_NAME: 'GreenCastle' })).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await check({ PARLEY_GUARD: 'warn' })).toMatchObject({ code: 0, stderr: expect.stringContaining('warning') })
  expect(await check({ PARLEY_GUARD: 'off' })).toMatchObject({ code: 0, stderr: expect.stringContaining('skipped') })
  await uninstall(folder)
  expect(await check({})).toMatchObject({ code: 1, stderr: expect.stringContaining('--project') })
  expect(await check({}, '--project', folder)).toMatchObject(others)
})

verifies('cli.guard.commands', 'wrong usage ends with 2, what is not there with 1', async () => {
  const { folder } = await repositoryAt(join(await temporaryFolder(), 'code'))
  expect(await guard('install', folder)).toMatchObject({ code: 2, stderr: expect.stringContaining('code_repo_path') })
  expect(await guard('install', 'nowhere', folder)).toMatchObject({ code: 1 })
  expect(await guard('uninstall', '/srv/none')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not a working'),
  })
  expect(await guard('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('PARLEY_GUARD=warn') })
})

verifies(
  'cli.guard.commands',
  'install and uninstall take the current repository, and say it in sentences',
  async () => {
    const { folder } = await repositoryAt(join(await temporaryFolder(), 'code'))
    const here = (...args: string[]) => parleyCommand(parley(), ['guard', ...args], { cwd: folder })
    const installed = await here('install')
    expect(installed).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Installed for the project .*\n$/) })
    expect(await here('uninstall')).toMatchObject({ code: 0, stdout: 'The guard was removed.\n', stderr: '' })
    expect(await here('uninstall')).toMatchObject({ code: 0, stdout: 'There was no guard.\n' })
  },
)

verifies('mail.guard.secrets', 'an .env of the repository is for another program', async () => {
  const { folder, write, git } = await repositoryAt(join(await temporaryFolder(), 'code'))
  const { reserve } = await guardedProject(parley(), folder)
  await reserve('GreenCastle', ['**'])
  await write({ '.env': 'STORAGE_ROOT=/srv/elsewhere\nHTTP_PORT=none\n' })
  await git('add', '-A')
  const args = ['guard', 'check', '.', '--project', folder]
  expect(await parleyCommand(parley(), args, { cwd: folder })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('held by GreenCastle'),
  })
})

verifies('mail.guard.stops', 'what a server wrote before it was killed counts', async () => {
  const own = await startParley()
  const { write, commit, reserve } = await guardedRepository(own)
  await reserve('GreenCastle', ['**'])
  await own.end('SIGKILL')
  await write({ a: '1' })
  expect(await commit('BlueLake')).toMatchObject({ code: 1, said: expect.stringContaining('held by GreenCastle') })
})

describe('A commit passes with a warning', () => {
  const passed = (why: string) => ({
    code: 0,
    said: expect.stringMatching(new RegExp(`^parley guard: (?=.*not checked)(?=.*${why}).*\n$`)),
  })

  verifies('mail.guard.away', 'where the store is gone, broken, or has no such project', async () => {
    const own = await serveHere()
    const { folder, write, commit, reserve, uninstall } = await guardedRepository(own)
    await reserve('GreenCastle', ['**'])
    await own.stop()
    await write({ a: '1' })
    // The file alone is enough: the server need not run.
    expect((await commit('BlueLake')).code).toBe(1)
    const file = join(own.storage, 'parley.sqlite3')
    await rename(file, `${file}.away`)
    expect(await commit('BlueLake')).toEqual(passed('There is no Parley store'))
    await writeFile(file, 'no database at all, but long enough to be taken for one\n'.repeat(100))
    await write({ a: '2' })
    expect(await commit('BlueLake')).toEqual(passed('file is not a database'))
    for (const end of ['', '-acknowledged']) await rm(file + end)
    const empty = await serveHere({ storage: own.storage })
    await write({ a: '3' })
    expect(await commit('BlueLake')).toEqual(passed('has no project code-'))
    await empty.stop()
    await rm(own.storage, { recursive: true })
    // Without a store the guard can still be removed.
    expect(await uninstall(folder)).toBe('The guard was removed.\n')
  })

  verifies('mail.guard.away', 'where Parley or its Node is gone', async () => {
    const { hook, write, commit, reserve } = await guardedRepository(parley())
    await reserve('GreenCastle', ['**'])
    const text = await readFile(hook, 'utf8')
    await writeFile(hook, text.replaceAll(process.execPath, '/srv/gone/node'))
    await write({ a: '1' })
    expect(await commit('BlueLake')).toEqual(passed('Parley is not where it was'))
    await writeFile(hook, text.replace(/'\{.*\}'/, "'no JSON'"))
    await write({ a: '2' })
    const { code, said } = await commit('BlueLake')
    expect([code, said]).toEqual([
      0,
      expect.stringContaining('parley guard: it failed, and this commit was not checked.'),
    ])
  })
})

eachEngine('A guard', (open, dialect) => {
  verifies(
    ['mail.guard.stops', 'mail.guard.away', 'mail.guard.secrets'],
    'finds out with and without the server',
    async () => {
      const { url, connect } = await open()
      const db = await connect()
      const own = await serveHere({ env: { DATABASE_URL: url } })
      const { folder, hook, write, commit } = await repositoryAt(join(await temporaryFolder(), 'code'))
      const { door, reserve } = await guardedProject(own, folder)
      await door.call('install_precommit_guard', { project_key: folder, code_repo_path: folder })
      const text = await readFile(hook, 'utf8')
      expect(text).toContain(`${own.url}/mcp`)
      if (dialect === 'postgres') for (const secret of [url, new URL(url).password]) expect(text).not.toContain(secret)
      await reserve('GreenCastle', ['src/**'], { reason: 'a big change' })
      // More than the server lists at once, all of them newer.
      await db.tx((tx) =>
        tx.all(sql`
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
          INSERT INTO leases (project_id, agent_id, pattern, prefix, exclusive, reason, created_at, expires_at)
            SELECT a.project_id, a.id, 'other/' || i, 'other/' || i, 1, '', 0, 9000000000000
            FROM n, agents a WHERE a.name = 'GreenCastle'`),
      )
      await db.close()
      await write({ 'src/a.ts': '1' })
      const held = { code: 1, said: expect.stringMatching(/src\/\*\* {2}held by GreenCastle until .*: a big change/) }
      expect(await commit('BlueLake')).toEqual(held)
      await own.stop()
      if (dialect === 'sqlite') return expect(await commit('BlueLake')).toEqual(held)
      // Only the environment of whoever commits may know the password.
      expect(await commit('BlueLake', { DATABASE_URL: url })).toEqual(held)
      const file = join(await temporaryFolder(), 'parley.env')
      await writeFile(file, `DATABASE_URL=${url}\n`)
      expect(await commit('BlueLake', { PARLEY_ENV_FILE: file })).toEqual(held)
      expect(await commit('BlueLake')).toEqual({
        code: 0,
        said: expect.stringMatching(
          /^parley guard: warning: this commit was not checked\. The server at \S+ does not answer/,
        ),
      })
    },
  )
})

verifies('cli.guard.commands', 'install prints the path of the hook', async () => {
  const { folder, hook } = await repositoryAt(join(await temporaryFolder(), 'code'))
  await guardedProject(parley(), folder)
  expect(await printedBy(parley(), ['guard', 'install', folder, folder])).toBe(`${hook}\n`)
})
