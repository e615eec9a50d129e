/** Paths that `git rev-parse` tells of a folder, absolute, by one process for several questions. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gitEnv } from './git-env.ts'

const run = promisify(execFile)

/** Each question is the words for it, as `['--git-path', 'hooks']`. Rejects as `execFile` does. */
export async function gitPaths(folder: string, questions: readonly (readonly string[])[]): Promise<string[]> {
  const ask = async (words: readonly string[]) => {
    const args = ['rev-parse', '--path-format=absolute', ...words]
    const { stdout } = await run('git', args, { cwd: folder, env: gitEnv() })
    return stdout.replace(/\n$/, '')
  }
  const lines = (await ask(questions.flat())).split('\n')
  // A line each, except where a path has a line break in it.
  return lines.length === questions.length ? lines : Promise.all(questions.map(ask))
}
