/** The guard in the pre-commit hook of a repository: put there before what the hook does already, and taken away to the byte. */
import { chmod, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HubError } from '../base/errors.ts'
import { type Block, blockOf, blocksOf, type Carried, type Programs } from './hook.ts'
import { findRepository, pathMappingOf, type Repository, sharesHooks } from './repository.ts'

/** The settings that an installation of Parley gives to all its guards. */
export interface Installation extends Programs, Pick<Carried, 'storage_root' | 'database' | 'server'> {}

interface Guarded {
  readonly slug: string
  readonly key: string
}

const made = '#!/bin/sh\n# Parley made this file, and removes it with its guard.\n'
const chain = 'exec "$0.parley-kept" "$@"\n'
const keptBeside = (hook: string): string => `${hook}.parley-kept`

/** The settings for the guard of one repository. */
export function carriedFor(
  repository: Repository,
  { slug, key }: Guarded,
  { storage_root, database, server }: Installation,
): Carried {
  return {
    project: slug,
    key,
    storage_root,
    ...(database !== undefined && { database }),
    ...(server !== undefined && { server }),
    ...pathMappingOf(repository, key),
    ...(sharesHooks(repository) && { repository: repository.common }),
  }
}

/** Returns the path of the hook. Installing again brings the guard up to date. */
export async function installHook(folder: string, project: Guarded, installation: Installation): Promise<string> {
  const repository = await findRepository(folder)
  const carried = carriedFor(repository, project, installation)
  const block = bytes(blockOf(carried, installation))
  const hook = join(repository.hooks, 'pre-commit')
  return writing(hook, async () => {
    await mkdir(repository.hooks, { recursive: true })
    const there = await look(hook)
    const before = there && ownBlock(there.text, carried.repository)
    if (there === undefined) await replace(hook, made + block, 0o755)
    else if (before !== undefined)
      await replace(
        hook,
        there.text.replace(before.text, () => block),
        there.mode,
      )
    else if (there.plain) await replace(hook, there.head + block + there.rest, there.mode)
    else await putAside(hook, made + block + (there.runs ? chain : ''))
    return hook
  })
}

/** Whether there was one. What somebody else has changed in the hook since then stays. */
export async function uninstallHook(folder: string): Promise<boolean> {
  const { hook, there, own } = await inspect(folder)
  if (there === undefined || own === undefined) return false
  const rest = there.text.replace(own.text, '')
  await writing(hook, async () => {
    if (rest !== made && rest !== made + chain) return replace(hook, rest, there.mode)
    await rm(hook)
    if ((await look(keptBeside(hook))) !== undefined) await rename(keptBeside(hook), hook)
  })
  return true
}

interface HookState {
  readonly hook: string
  readonly top: string
  /** Undefined if no guard is installed. */
  readonly block: Block | undefined
  /** Whether the hook does something else besides. */
  readonly chained: boolean
}

export async function hookState(folder: string): Promise<HookState> {
  const { hook, top, there, own } = await inspect(folder)
  const rest = there?.text.replace(own?.text ?? '', '') ?? ''
  return { hook, top, block: own, chained: there !== undefined && rest !== made }
}

async function inspect(folder: string) {
  const repository = await findRepository(folder)
  const hook = join(repository.hooks, 'pre-commit')
  const there = await look(hook)
  const only = sharesHooks(repository) ? repository.common : undefined
  return { hook, top: repository.top, there, own: there && ownBlock(there.text, only) }
}

/** In a folder that repositories share, each has a block of its own. */
function ownBlock(text: string, repository: string | undefined): Block | undefined {
  const own = blocksOf(utf8(text)).find(({ carried }) => repository === undefined || carried?.repository === repository)
  return own && { ...own, text: bytes(own.text) }
}

/** Bytes as characters, one each: what others wrote need not be UTF-8, and stays as it is. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1')
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString()

/** Shells that read the block; and without a first line that names one, git takes sh. */
const shell = /^#!\s*\S*?(?:\/env\s+(?:-S\s+)?)?(?:\S*\/)?(?:sh|bash|dash|ash|ksh|zsh)(?:\s|$)/

async function look(hook: string) {
  const stats = await lstat(hook).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (stats === undefined) return undefined
  if (stats.isDirectory()) throw new HubError('INVALID_ARGUMENT', `${hook} is a folder, not a hook.`)
  // A link may lead to a file of the repository, or to nowhere.
  const text = stats.isFile() ? await readFile(hook, 'latin1') : ''
  const runs = stats.isSymbolicLink() || (stats.mode & 0o111) !== 0
  const [first = ''] = /^#!.*\n/.exec(text) ?? []
  const script = first === '' ? !text.startsWith('#!') : shell.test(first)
  // A hook that git does not run must not begin to run because of the guard.
  const plain = stats.isFile() && runs && script && !text.includes('\0')
  return { text, mode: stats.mode & 0o7777, runs, plain, head: first, rest: text.slice(first.length) }
}

async function putAside(hook: string, text: string): Promise<void> {
  const kept = keptBeside(hook)
  if ((await look(kept)) !== undefined)
    throw new HubError('INVALID_ARGUMENT', `${kept} exists already: the present hook would be kept under that name.`)
  await rename(hook, kept)
  await replace(hook, text, 0o755).catch(async (error: unknown) => {
    await rename(kept, hook)
    throw error
  })
}

/** All at once: a commit may be under way. */
async function replace(hook: string, text: string, mode: number): Promise<void> {
  const draft = `${hook}.parley-${process.pid}`
  try {
    await writeFile(draft, text, { encoding: 'latin1', flag: 'wx' })
    await chmod(draft, mode)
    await rename(draft, hook)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function writing<T>(hook: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HubError) throw error
    const { message } = error as Error
    throw new HubError('INVALID_ARGUMENT', `The hook ${hook} cannot be written: ${message}`, { cause: error })
  }
}
