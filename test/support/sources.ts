/** The files of the repository, for tests that read the code instead of running it. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Source {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
}

/** Every text file that is in Git, or would be if it were added now. */
export function repositoryFiles(): Source[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return listed
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
}

/** The comments alone. */
export function commentsOf(text: string): string[] {
  return [...text.matchAll(/(?<=^|\s)(?:\/\*[\s\S]*?\*\/|\/\/.*)/g)].map(([comment]) => comment)
}

/** The code without its comments, which may speak of what the code must not do. */
export function withoutComments(text: string): string {
  return text.replace(/(^|\s)\/\*[\s\S]*?\*\//g, '$1').replace(/(^|\s)\/\/.*/g, '$1')
}
