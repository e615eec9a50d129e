/** The questions of init to git: where a repository lists what it passes over on this machine, and which files it shares. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gitEnv } from '../base/git-env.ts'
import { gitPaths } from '../base/git-paths.ts'

const run = promisify(execFile)

export interface GitPlaces {
  readonly exclude: string
  readonly index: string
  readonly folder: string
}

/** Undefined where git is not there, or does not know the folder. */
export async function gitPlaces(folder: string): Promise<GitPlaces | undefined> {
  const questions = ['info/exclude', 'index'].map((path) => ['--git-path', path])
  const [exclude = '', index = ''] = await gitPaths(folder, questions).catch(() => [])
  return exclude === '' ? undefined : { exclude, index, folder: dirname(dirname(exclude)) }
}

/** The files among these that are in the index of git, which a new repository does not have yet. */
export async function trackedFiles({ index }: GitPlaces, folder: string, files: readonly string[]): Promise<string[]> {
  if (files.length === 0 || !existsSync(index)) return []
  const { stdout } = await run('git', ['ls-files', '-z', '--full-name', '--', ...files], { cwd: folder, env: gitEnv() })
  const paths = stdout.split('\0').map((path) => join(folder, path))
  return files.filter((file) => paths.includes(file))
}
