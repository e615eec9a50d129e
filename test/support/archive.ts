/** The archive of a storage folder, as a person with `git` sees it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isAllShown } from '../../src/archive/archive.ts'
import { gitOutput, runToEnd } from './starter.ts'

export const archived = { ARCHIVE_ENABLED: 'true' }

/** The repository of one project. */
export function repositoryOf(storage: string, slug: string) {
  const folder = join(storage, 'projects', slug)
  const git = (...args: string[]): Promise<string> =>
    gitOutput(args, { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: storage } })
  const said = new Map<string, Promise<string>>()
  /** The answer of git about the last commit. Polls ask many times: a process is started only once there is another commit. */
  const ofMain = (...args: string[]): Promise<string> => {
    const asked = `${commitOf(folder)} ${args.join(' ')}`
    const known = said.get(asked)
    if (known !== undefined) return known
    const telling = git(...args)
    if (!asked.startsWith('? ')) said.set(asked, telling)
    telling.catch(() => said.delete(asked))
    return telling
  }
  const lines = async (...args: string[]) => (await ofMain(...args)).split('\n').filter((line) => line !== '')
  return {
    folder,
    git,
    exists: () => existsSync(join(folder, '.git')),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    bytes: (path: string) => readFileSync(join(folder, path)),
    /** The committed files. */
    files: () => lines('ls-tree', '-r', '--name-only', 'main'),
    committed: (path: string) => ofMain('show', `main:${path}`),
    /** All files with the names of their contents. */
    tree: () => ofMain('rev-parse', 'main^{tree}'),
    subjects: () => lines('log', '--format=%s', 'main'),
    /** Every object of a pack becomes a file of its own. */
    async unpack(pack: string): Promise<void> {
      const ended = await runToEnd('sh', ['-c', 'git unpack-objects -q < "$1"', 'sh', pack], { cwd: folder })
      expect(ended).toMatchObject({ code: 0 })
    },
    /** Resolves when git finds nothing to complain of: no lost object, no file that differs. */
    async sound(): Promise<void> {
      await expect.poll(() => git('status', '--porcelain'), { timeout: 30_000, interval: 100 }).toBe('')
      const checked = await runToEnd('git', ['fsck', '--full', '--strict', '--no-dangling'], { cwd: folder })
      expect(checked).toMatchObject({ code: 0, stderr: '' })
    },
  }
}

/** Of the branch `main`; a question mark where it stands in no file of its own. */
function commitOf(folder: string): string {
  try {
    return readFileSync(join(folder, '.git', 'refs', 'heads', 'main'), 'utf8').trim()
  } catch {
    return '?'
  }
}

/** Whether all that is committed is checked out, which waits for a pause: `archive verify` starts four processes for each project. */
export const isArchiveAtRest = (storage: string): boolean => isAllShown(join(storage, 'projects'))

export const archivedProjects = (storage: string): string[] =>
  readdirSync(join(storage, 'projects')).filter((name) => !name.startsWith('.'))
