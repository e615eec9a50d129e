/** Which files of this machine mail may carry: those of a project that is a git repository, or that the operator has listed. */
import { access, realpath } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { isIgnored } from '../../archive/git.ts'
import { type Folder, findFolder, giveContent, refused } from '../../attachments/folder.ts'
import { foldersUpTo, isHidden, isKeyName, isSameOrWithin, isSystemFolder } from '../../attachments/forbidden-files.ts'
import type { HubError } from '../../base/errors.ts'
import { echo } from '../../base/text.ts'
import type { Hub } from '../hub/hub.ts'

/** The folder of a project whose files may be read. */
export interface Ground {
  readonly folder: Folder
  /** Where the rules of git begin that say what is ignored: the folder itself, or the listed one around it. */
  readonly top: string
}

/** The ground of a project, or why it has none: as the end of a sentence about the file. */
export async function findGround(hub: Hub, key: string): Promise<Ground | string> {
  const folder = await findFolder(key)
  const named = JSON.stringify(echo(key))
  if (folder === undefined) return `this server has no folder ${named}`
  const { real } = folder
  if (await isSystemFolder(real)) return `${named} is a home or system folder, of which no file is read`
  const { roots, hidden } = hub.rules.attachments
  const tops = await listTops(roots, real)
  // Else whoever names a hidden folder as its project sees what is hidden from the project around it.
  const open = tops.find(({ from }) => hidden || !isHidden(from, real))
  if (open !== undefined) return { folder, top: open.top }
  if (tops.length > 0) return `the folder ${named} is hidden or in a hidden one, which takes ATTACHMENT_HIDDEN=true`
  const around = await findAround(real)
  return around === undefined
    ? `the folder ${named} is no git repository and not listed in ATTACHMENT_ROOTS`
    : `the folder ${named} is no git repository of its own: use the project ${JSON.stringify(echo(around))}`
}

interface Top extends Pick<Ground, 'top'> {
  /** The folder below which a hidden one counts: whoever lists a hidden folder means it. */
  readonly from: string
}

async function listTops(roots: readonly string[], real: string): Promise<Top[]> {
  const listed = await Promise.all(roots.map((root) => realpath(root).catch(() => root)))
  return [
    ...((await hasGit(real)) ? [{ top: real, from: parse(real).root }] : []),
    ...listed.filter((root) => isSameOrWithin(root, real)).map((root) => ({ top: root, from: root })),
  ]
}

/** The repository that a folder is a part of, where its files may be read. */
async function findAround(real: string): Promise<string | undefined> {
  const { root } = parse(real)
  for (const folder of foldersUpTo(root, real))
    if ((await hasGit(folder)) && !isHidden(root, folder) && !(await isSystemFolder(folder))) return folder
  return undefined
}

const hasGit = (folder: string): Promise<boolean> =>
  access(join(folder, '.git')).then(
    () => true,
    () => false,
  )

/** Refuses what its owner has hidden. `path` names the file in errors, `real` is it with links followed. */
export async function judgeFile({ folder, top }: Ground, path: string, real: string): Promise<void> {
  if (isHidden(folder.real, real)) throw secret(path, 'is hidden')
  if (isKeyName(real)) throw secret(path, 'is named like a private key')
  for (const repository of foldersUpTo(top, real)) {
    const ignored = (await hasGit(repository)) ? await isIgnored(repository, real) : false
    // Without an answer it may be what nobody is to see.
    if (ignored === undefined) throw secret(path, 'may be ignored by git, which could not be asked')
    if (ignored) throw secret(path, 'is ignored by git')
  }
}

export const secret = (path: string, why: string): HubError =>
  refused(path, `${why}: such files are not read`, {
    hint: `${giveContent} Check first that its readers may see it. The operator of Parley can allow such files with ATTACHMENT_HIDDEN=true.`,
  })
