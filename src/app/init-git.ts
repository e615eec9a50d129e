/** The questions of init to git: where a repository lists what it passes over on this machine, and which files it shares. */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gitEnv } from '../base/git-env.ts'

const run = promisify(execFile)

/** Undefined where git is not there, or does not know the folder. */
export async function gitPlaces(folder: string): Promise<{ exclude: string; folder: string } | undefined> {
  try {
    const { stdout } = await run('git', ['rev-parse', '--path-format=absolute', '--git-path', 'info/exclude'], {
      cwd: folder,
      env: gitEnv(),
    })
    const exclude = stdout.replace(/\n$/, '')
    return { exclude, folder: dirname(dirname(exclude)) }
  } catch {
    return undefined
  }
}

/** The files that are in the index of git. */
export async function trackedFiles(folder: string, files: readonly string[]): Promise<string[]> {
  const inside = files.filter((file) => file.startsWith(folder))
  if (inside.length === 0) return []
  const { stdout } = await run('git', ['ls-files', '-z', '--full-name', '--', ...inside], {
    cwd: folder,
    env: gitEnv(),
  })
  const paths = stdout.split('\0').map((path) => join(folder, path))
  return inside.filter((file) => paths.includes(file))
}
