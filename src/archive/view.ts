/** The archive as those see it who only look: which commit a message is in, and what a commit says. */
import { join } from 'node:path'
import { type Noun, readSlots, slotsOf } from './commit-index.ts'
import { tryGit } from './git.ts'

interface CommitFacts {
  readonly sha: string
  readonly at: number
  readonly summary: string
  readonly author: string
}

export interface ArchiveView {
  /** The commits of these numbers, as far as they are archived by now. Takes no process and some microseconds each. */
  find(slug: string, noun: Exclude<Noun, 'topics'>, ids: readonly number[]): ReadonlyMap<number, string>
  /** The facts of these commits; commits that the archive does not have are left out. */
  describe(slug: string, shas: readonly string[]): Promise<CommitFacts[]>
}

export const viewArchive = (folder: string): ArchiveView => ({
  find: (slug, noun, ids) =>
    new Map([...readSlots(slotsOf(join(folder, slug), noun), ids)].map(([id, sha]) => [id, sha.toString('hex')])),

  async describe(slug, shas) {
    if (shas.length === 0) return []
    const format = '--format=%H%x00%ct%x00%s%x00%an <%ae>%x00'
    const { code, stdout } = await tryGit(
      join(folder, slug),
      ['log', '--no-walk=unsorted', '--stdin', '--ignore-missing', format],
      `${[...new Set(shas)].join('\n')}\n`,
    ).catch(() => ({ code: 1, stdout: '' }))
    if (code !== 0) return []
    return stdout
      .split('\0\n')
      .filter((record) => record !== '')
      .map((record) => {
        const [sha = '', at, summary = '', author = ''] = record.split('\0')
        return { sha, at: Number(at) * 1000, summary, author }
      })
  },
})
