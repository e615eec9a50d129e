/** Backups of a store with archives, made by a server that runs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { archived, isArchiveAtRest } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, startParley, temporaryFolder } from '../support/parley.ts'
import { gitOutput } from '../support/starter.ts'
import { verifies } from '../support/verifies.ts'

const git = async (cwd: string, ...args: string[]): Promise<string> =>
  (await gitOutput(['-c', 'safe.directory=*', ...args], { cwd })).trim()

/** Everything that was sent is committed and checked out. */
const settled = (parley: { storage: string }): Promise<void> =>
  expect
    .poll(
      async () => {
        if (!isArchiveAtRest(parley.storage)) return undefined
        const { stdout } = await parleyCommand(parley, ['archive', 'verify', '--json'], { env: archived })
        return JSON.parse(stdout || '{}')
      },
      { timeout: 60_000, interval: 200 },
    )
    .toMatchObject({ sound: true, waiting: 0 })

verifies(
  'cli.backup.archives',
  'the restored archive has the same commits, is as the database has it, and goes on',
  async () => {
    const parley = await startParley({ env: archived })
    const alice = mailbox(parley, 'alice')
    for (let n = 0; n < 20; n++) await alice.send('bob', `message ${n}`)
    await settled(parley)
    const head = await git(join(parley.storage, 'projects', 'commons'), 'rev-parse', 'main')
    const file = join(parley.storage, 'backup.tar.gz')
    expect(await parleyCommand(parley, ['backup', file])).toMatchObject({ code: 0 })
    await parley.end()
    const storage = await temporaryFolder()
    expect(await parleyCommand({ storage }, ['restore', file])).toMatchObject({ code: 0 })
    const folder = join(storage, 'projects', 'commons')
    expect(await git(folder, 'rev-parse', 'main')).toBe(head)
    expect(await git(folder, 'fsck', '--no-dangling')).toBe('')
    // Its files are there before any server is.
    expect(await parleyCommand({ storage }, ['archive', 'verify'])).toMatchObject({ code: 0 })
    expect(await git(folder, 'status', '--porcelain')).toBe('')
    const again = await startParley({ storage, env: archived })
    await mailbox(again, 'alice').send('bob', 'after the restore')
    await settled(again)
    expect(await git(folder, 'rev-list', '--count', `${head}..main`)).not.toBe('0')
    expect(await git(folder, 'merge-base', head, 'main')).toBe(head)
    expect(await git(folder, 'status', '--porcelain')).toBe('')
    expect(existsSync(join(folder, 'messages'))).toBe(true)
  },
  120_000,
)
