/** A Git repository as far as the guard needs it: its folders, and its place in the folder of a project. */
import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { HubError } from '../base/errors.ts'
import { gitPaths } from '../base/git-paths.ts'
import { echo } from '../base/text.ts'

export interface Repository {
  /** Its working files. In a linked worktree, those of the worktree. */
  readonly top: string
  /** The folder that all its worktrees share, such as `.git`. */
  readonly common: string
  /** Where git looks for hooks: `core.hooksPath`, else the folder of the repository itself. */
  readonly hooks: string
}

export async function findRepository(folder: string): Promise<Repository> {
  if (!isAbsolute(folder))
    throw new HubError('INVALID_ARGUMENT', `The path of the repository must be absolute: ${echo(folder)}`)
  const here = await lookFrom(folder)
  // From its top, because a relative core.hooksPath is meant from there.
  return here.top === folder ? here : { ...(await lookFrom(here.top)), top: here.top }
}

async function lookFrom(cwd: string): Promise<Repository> {
  try {
    const questions = [['--show-toplevel'], ['--git-common-dir'], ['--git-path', 'hooks']]
    const [top = '', common = '', hooks = ''] = await gitPaths(cwd, questions)
    return { top, common, hooks }
  } catch (error) {
    throw new HubError('INVALID_ARGUMENT', `${cwd} is not a working folder of a Git repository: ${reasonOf(error)}`, {
      reason: 'no_repository',
      hint: 'Name the absolute path of a checkout on the machine of the server, with git installed there.',
      cause: error,
    })
  }
}

/** Git's complaint, or why git could not be started: a missing folder and a missing program look the same. */
function reasonOf(error: unknown): string {
  const { stderr = '', code, message } = error as NodeJS.ErrnoException & { stderr?: string }
  if (code === 'ENOENT') return 'the folder, or git itself, does not exist here.'
  return stderr.split('\n').find((line) => line !== '') ?? message
}

/** Where the files of a repository are among the paths of a project. */
export interface PathMapping {
  /** The folder of the project that is this repository; '' if the two are the same. */
  readonly inside: string
  /** The folder of the repository that is this project; '' if the two are the same. */
  readonly below: string
}

const same: PathMapping = { inside: '', below: '' }

/**
 * Patterns are relative to the project's folder, staged paths to the repository's. A submodule may lie inside of a project
 * and a project inside of a repository; a clone that lies elsewhere is taken for the whole project.
 */
export function pathMappingOf({ top, common }: Repository, key: string): PathMapping {
  const folder = isAbsolute(key) ? real(key) : undefined
  if (folder === undefined) return same
  const main = common.endsWith(`${sep}.git`) ? [common.slice(0, -5)] : []
  for (const own of [top, ...main].map(real)) {
    if (own === folder) return same
    if (own?.startsWith(join(folder, sep))) return { inside: slashed(folder, own), below: '' }
    if (own !== undefined && folder.startsWith(join(own, sep))) return { inside: '', below: slashed(own, folder) }
  }
  return same
}

const slashed = (from: string, to: string): string => relative(from, to).split(sep).join('/')

function real(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Whether other repositories use the same hooks: a folder that is neither in this repository nor among its files. */
export function sharesHooks({ top, common, hooks }: Repository): boolean {
  const [at = hooks, ...own] = [hooks, top, common].map((path) => real(path) ?? path)
  return !own.some((folder) => at.startsWith(join(folder, sep)))
}
