/** The folder of this machine that a path really means: links followed, and for a linked git worktree the main checkout. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'

export interface RealFolder {
  readonly path: string
  /** The top of the repository around it, if there is one. */
  readonly top?: string | undefined
  /** Whether a worktree was left for its main checkout. */
  readonly worktree: boolean
}

/** Undefined where there is no such folder. No program is started: a look takes some system calls. */
export async function findRealFolder(
  path: string,
  { worktreesApart }: { worktreesApart: boolean },
): Promise<RealFolder | undefined> {
  if (!isAbsolute(path)) return undefined
  const real = await realFolder(path)
  if (real === undefined) return undefined
  const top = await findTop(real)
  if (top === undefined) return { path: real, worktree: false }
  const main = worktreesApart ? undefined : await mainCheckout(top)
  if (main === undefined) return { path: real, top, worktree: false }
  return { path: join(main, relative(top, real)), top: main, worktree: true }
}

async function realFolder(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined)
  return real !== undefined && (await isFolder(real)) ? real : undefined
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false

async function findTop(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await stat(join(at, '.git')).catch(() => undefined)) !== undefined) return at
    if (dirname(at) === at) return undefined
  }
}

/**
 * Undefined for anything but a linked worktree. A file `.git` may come with any download and name any repository: the
 * repository has to name the worktree too, which only those do who may write in it (mail.project.forged).
 */
async function mainCheckout(top: string): Promise<string | undefined> {
  const file = join(top, '.git')
  const own = await readLine(file, /^gitdir: (.+)$/)
  if (own === undefined) return undefined
  const folder = resolve(top, own)
  const back = await readLine(join(folder, 'gitdir'), /^(.+)$/)
  const shared = await readLine(join(folder, 'commondir'), /^(.+)$/)
  if (back === undefined || shared === undefined) return undefined
  const named = await realpath(resolve(folder, back)).catch(() => undefined)
  if (named === undefined || named !== (await realpath(file).catch(() => undefined))) return undefined
  const common = await realpath(resolve(folder, shared)).catch(() => undefined)
  // A bare repository has no main checkout.
  return common !== undefined && basename(common) === '.git' ? realFolder(dirname(common)) : undefined
}

/** Files of git that hold one line; a longer one is none of them. */
const mostBytes = 8192

async function readLine(file: string, form: RegExp): Promise<string | undefined> {
  const stats = await stat(file).catch(() => undefined)
  if (!stats?.isFile() || stats.size > mostBytes) return undefined
  const text = await readFile(file, 'utf8').catch(() => '')
  return form.exec(text.trim())?.[1]
}
