/** `parley clear-and-reset-everything`: what goes, what stays, and when nothing happens. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { clearCommand } from '../../src/doors/cli/operating/clear.ts'
import { listTables } from '../../src/store/exports/tables.ts'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyCommand, parleyProcess } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { testScreen } from '../support/screen.ts'
import { verifies } from '../support/verifies.ts'

const command = 'clear-and-reset-everything'

eachEngine('Clearing', (open, dialect) => {
  async function start() {
    const database = await open({ fresh: true })
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: database.url }
    const server = await serveHere({ storage, env })
    await mailbox(server, 'alice').send('bob', 'x')
    return { database, storage, env, server }
  }

  verifies('cli.clear.asks', 'tells how much it is, and touches nothing without --force', async () => {
    const { storage, env, server } = await start()
    await server.stop()
    const run = await parleyCommand({ storage }, [command], { env })
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('1 project, 2 agents, 1 thread, 1 message, 0 reservations')
    expect(run.stderr).toMatch(/secret\.key: \d+ bytes/)
    expect(run.stderr).toMatch(/would delete all of that, for good\.\nNothing was deleted\. Pass --force to do it\.\n$/)
    const again = await serveHere({ storage, env })
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'x' })
    await again.stop()
  })

  verifies('cli.clear.all', 'removes all that is Parley’s, and nothing else', async () => {
    const { database, storage, env, server } = await start()
    await server.stop()
    await mkdir(join(storage, 'projects', 'web-1', '.git'), { recursive: true })
    await writeFile(join(storage, 'projects', 'web-1', '.git', 'HEAD'), 'x')
    await writeFile(join(storage, 'notes.txt'), 'mine')
    const foreign = dialect === 'postgres' ? await database.connect() : undefined
    if (foreign !== undefined) {
      const { raw } = await import('sql-template-tag')
      await foreign.tx((tx) => tx.all(raw('CREATE TABLE search_history (x TEXT)')))
      await foreign.close()
    }
    const run = await parleyCommand({ storage }, [command, '--force'], { env })
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('All of it is gone.') })
    expect(run.stderr).toContain('notes.txt')
    expect(run.stderr).toContain('with the archives of 1 project')
    expect(await readdir(storage)).toEqual(['notes.txt'])
    const db = await await database.connect()
    expect(await listTables(db)).toEqual(dialect === 'postgres' ? ['search_history'] : [])
  })

  verifies('cli.clear.unused', 'is refused while a server runs, which goes on', async () => {
    const { storage, env, server } = await start()
    const run = await parleyCommand({ storage }, [command, '--force'], { env })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/Another process has .* open\.\nNothing was changed\. Stop `parley serve`/)
    expect(await mailbox(server, 'bob').check()).toMatchObject({ content: 'x' })
    await server.stop()
  })
})

verifies('cli.clear.unused', 'a server in a process of its own is seen too', async () => {
  const parley = await startParley({ env: archived })
  await mailbox(parley, 'alice').send('bob', 'x')
  // By then its thread has opened the file a second time, and must not have dropped the locks of the first.
  await expect.poll(() => repositoryOf(parley.storage, 'commons').exists(), { timeout: 20_000 }).toBe(true)
  expect(await parleyProcess(parley, [command, '--force'])).toMatchObject({ code: 1, stdout: '' })
  expect(await mailbox(parley, 'bob').check()).toMatchObject({ content: 'x' })
  await parley.end()
  expect(await parleyProcess(parley, [command, '--force', '--json'])).toMatchObject({ code: 0 })
  expect(await readdir(parley.storage)).toEqual([])
})

verifies('cli.clear.asks', 'a person who types anything but yes keeps everything', async () => {
  for (const [answer, gone] of [
    ['no', 0],
    ['', 0],
    ['YES ', 1],
  ] as const) {
    const { screen } = testScreen({ tty: true })
    let removed = 0
    const clearing = () => ({
      survey: async () => ({ database: 'a', files: [], rows: { messages: 5 }, archives: [], strangers: [] }),
      needUnused: async () => {},
      remove: async () => {
        removed++
      },
    })
    const asked = { ...screen, input: { ...screen.input, ask: async () => answer } }
    const run = clearCommand(clearing, asked).parseAsync([], { from: 'user' })
    if (gone === 1) await run
    else await expect(run).rejects.toThrow('Nothing was deleted.')
    expect(removed).toBe(gone)
  }
})
