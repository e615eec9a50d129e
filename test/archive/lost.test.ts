/** An archive of which a part is gone, or all of it: told by `doctor`, `archive verify` and the log, and made anew. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, startParley } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** A store with mail in its archive. */
async function withArchive() {
  const server = await startParley({ env: archived })
  for (let n = 0; n < 5; n++) await mailbox(server, 'ann').send('bob', `words ${n}`)
  const { storage } = server
  const repository = repositoryOf(storage, 'commons')
  const subjects = () => (repository.exists() ? repository.subjects().catch(() => []) : [])
  await expect.poll(async () => (await subjects()).length, { timeout: 20_000, interval: 200 }).toBeGreaterThan(6)
  await repository.sound()
  await server.end()
  const tree = await repository.tree()
  /** A folder that somebody else has put there is nothing of the archive. */
  const notes = join(storage, 'projects', 'notes')
  mkdirSync(notes)
  writeFileSync(join(notes, 'mine.txt'), 'mine')
  return {
    storage,
    repository,
    tree,
    notes,
    lose: (path: string) => rmSync(join(storage, 'projects', path), { recursive: true }),
    async comesBack() {
      const now = async () => (repository.exists() ? repository.tree().catch(() => undefined) : undefined)
      await expect.poll(now, { timeout: 20_000 }).toBe(tree)
    },
  }
}

const findings = async (storage: string) => {
  const { stdout } = await parleyCommand({ storage }, ['doctor', '--json'], { env: { ...archived, HTTP_PORT: '0' } })
  const report = JSON.parse(stdout) as { findings: { check: string; status: string; says: string; advice?: string }[] }
  return report.findings.filter(({ check }) => check === 'archive')
}

verifies(
  'mail.archive.lost',
  'doctor and verify tell, and a rebuild brings the same files back',
  async () => {
    const { storage, repository, tree, lose } = await withArchive()
    const archive = (command: string) => parleyCommand({ storage }, ['archive', command], { env: archived })
    const losses = [
      ['commons/.git', /commons is gone/],
      ['commons', /commons is gone/],
      ['', /archive in .*projects is gone/],
    ] as const
    for (const [path, says] of losses) {
      lose(path)
      expect(await findings(storage)).toMatchObject([
        { status: 'fault', says: expect.stringMatching(says), advice: expect.stringContaining('rebuild') },
      ])
      const { code, stderr } = await archive('verify')
      expect([code, stderr]).toEqual([1, expect.stringMatching(/gone from .*: commons.*archive rebuild/s)])
    }
    expect(await archive('rebuild')).toMatchObject({ code: 0 })
    expect(await repository.tree()).toBe(tree)
    expect(await findings(storage)).toMatchObject([{ status: 'ok' }])
  },
  60_000,
)

verifies(
  'mail.archive.lost',
  'a server tells at its start, and makes it anew; so it does with what goes while it runs',
  async () => {
    const { storage, notes, lose, repository, comesBack } = await withArchive()
    lose('commons/.git')
    const server = await startParley({ storage, env: archived })
    await server.printed(/archive_lost.*commons|commons.*archive_lost/)
    await comesBack()
    expect(existsSync(join(notes, 'mine.txt'))).toBe(true)
    await repository.sound()
    lose('commons')
    await mailbox(server, 'ann').send('bob', 'one more')
    await server.printed(/the archive of commons is gone/)
    const subjects = () => (repository.exists() ? repository.subjects().catch(() => []) : [])
    await expect.poll(async () => (await subjects()).length, { timeout: 20_000, interval: 200 }).toBeGreaterThan(7)
    await repository.sound()
    // All of it, and nobody writes: whoever asks for readiness is told, and sets the server to it.
    const asked = () => fetch(`${server.url}/health/readiness`).then(async (answer) => (await answer.json()) as object)
    expect(await asked()).toEqual({ status: 'ready' })
    const before = await repository.tree()
    lose('')
    expect(await asked()).toEqual({ status: 'ready', warnings: [expect.stringMatching(/archive is gone/)] })
    await server.printed(/(archive_lost[\s\S]*){3}/)
    const now = async () => (repository.exists() ? repository.tree().catch(() => undefined) : undefined)
    await expect.poll(now, { timeout: 20_000 }).toBe(before)
    await expect.poll(asked, { timeout: 20_000 }).toEqual({ status: 'ready' })
    await server.end()
    expect(await findings(storage)).toMatchObject([{ status: 'ok' }])
  },
  60_000,
)
