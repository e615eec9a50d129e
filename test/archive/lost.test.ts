/** The archive of a project whose repository is gone: told by `doctor` and the log, and made anew. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, startParley } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** A store with mail in its archive, and no .git there any more. */
async function withoutRepository() {
  const server = await startParley({ env: archived })
  for (let n = 0; n < 5; n++) await mailbox(server, 'ann').send('bob', `words ${n}`)
  const { storage } = server
  const repository = repositoryOf(storage, 'commons')
  const subjects = () => (repository.exists() ? repository.subjects().catch(() => []) : [])
  await expect.poll(async () => (await subjects()).length, { timeout: 20_000 }).toBeGreaterThan(6)
  await repository.sound()
  await server.end()
  const tree = await repository.tree()
  rmSync(join(repository.folder, '.git'), { recursive: true })
  // A folder that somebody else has put there is nothing of the archive.
  mkdirSync(join(storage, 'projects', 'notes'))
  writeFileSync(join(storage, 'projects', 'notes', 'mine.txt'), 'mine')
  return { storage, repository, tree }
}

const findings = async (storage: string) => {
  const { stdout } = await parleyCommand({ storage }, ['doctor', '--json'], { env: { ...archived, HTTP_PORT: '0' } })
  const report = JSON.parse(stdout) as { findings: { check: string; status: string; says: string; advice?: string }[] }
  return report.findings.filter(({ check }) => check === 'archive')
}

verifies(
  'mail.archive.lost',
  'doctor tells, and a rebuild brings the same files back',
  async () => {
    const { storage, repository, tree } = await withoutRepository()
    expect(await findings(storage)).toMatchObject([
      { status: 'fault', says: expect.stringMatching(/commons is gone/), advice: expect.stringContaining('rebuild') },
    ])
    expect(await parleyCommand({ storage }, ['archive', 'rebuild'], { env: archived })).toMatchObject({ code: 0 })
    expect(await repository.tree()).toBe(tree)
    expect(await findings(storage)).toMatchObject([{ status: 'ok' }])
    expect(existsSync(join(storage, 'projects', 'notes', 'mine.txt'))).toBe(true)
  },
  60_000,
)

verifies(
  'mail.archive.lost',
  'the next server tells, and makes it anew',
  async () => {
    const { storage, repository, tree } = await withoutRepository()
    const server = await startParley({ storage, env: archived })
    await server.printed(/archive_lost.*commons|commons.*archive_lost/)
    const now = async () => (repository.exists() ? repository.tree().catch(() => undefined) : undefined)
    await expect.poll(now, { timeout: 20_000 }).toBe(tree)
    await server.end()
    expect(await findings(storage)).toMatchObject([{ status: 'ok' }])
  },
  60_000,
)
