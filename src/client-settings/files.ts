/** Settings files on the disk: found through symlinks, never outside of where they belong, and replaced by a rename. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, extname, join, sep } from 'node:path'
import { LeaveAlone } from './shapes.ts'

export interface SettingsFile {
  /** Its own path, behind all symlinks. */
  readonly path: string
  /** Undefined where there is no file yet. */
  readonly text: string | undefined
  /** Bits of the mode; undefined where there is no file yet. */
  readonly mode: number | undefined
}

const code = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * Reads a file that init may change. A symlink is followed within the folders that are given, which are those of the user and
 * of the repository: a repository of somebody else could otherwise let init write wherever a link in it leads.
 */
export function readSettingsFile(named: string, within: readonly string[]): SettingsFile {
  const path = realPath(named)
  const inside = (folder: string) => path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
  if (path !== named && !within.map(realPath).some(inside))
    throw new LeaveAlone(`it is a symlink to ${path}, outside of your home folder and of the repository`)
  // An AGENTS.md of a cloned repository that leads to a file of the shell.
  if (extname(path) !== extname(named)) throw new LeaveAlone(`it is a symlink to ${path}, a file of another kind`)
  let stat: ReturnType<typeof statSync>
  try {
    stat = statSync(path)
  } catch (error) {
    if (code(error) !== 'ENOENT') throw reading(error)
    return { path, text: undefined, mode: undefined }
  }
  if (!stat.isFile()) throw new LeaveAlone('it is no file')
  if ((stat.mode & 0o222) === 0) throw new LeaveAlone('it is read-only: allow writing, and run init again')
  return { path, text: decoded(path), mode: stat.mode & 0o7777 }
}

function decoded(path: string): string {
  try {
    // The byte order mark stays in the text, as the first character.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof TypeError) throw new LeaveAlone('it is not UTF-8')
    throw reading(error)
  }
}

const reading = (error: unknown): LeaveAlone => new LeaveAlone(`it cannot be read (${code(error)})`)

/** The path behind all symlinks, also of a file that is not there yet. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (code(error) !== 'ENOENT') throw reading(error)
  }
  if (isLink(path)) throw new LeaveAlone('it is a symlink to a file that does not exist')
  return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

/** Written whole beside it and renamed: a client that reads meanwhile finds the old file or the new one. Returns the folders it made, the outermost first. */
export function replaceFile(path: string, text: string, mode: number | undefined): string[] {
  const draft = `${path}.parley-${process.pid}`
  try {
    const folders = missingFolders(dirname(path))
    mkdirSync(dirname(path), { recursive: true })
    rmSync(draft, { force: true })
    writeFileSync(draft, text, { flag: 'wx', flush: true, ...(mode !== undefined && { mode }) })
    // The mode above is cut by the umask.
    if (mode !== undefined) chmodSync(draft, mode)
    renameSync(draft, path)
    return folders
  } catch (error) {
    rmSync(draft, { force: true })
    throw new LeaveAlone(`it cannot be written (${code(error)})`)
  }
}

function missingFolders(folder: string): string[] {
  try {
    statSync(folder)
    return []
  } catch {
    return [...missingFolders(dirname(folder)), folder]
  }
}

/** Removes a file that init made, and of the folders it made those that are empty. */
export function removeMade(path: string, folders: readonly string[]): void {
  rmSync(path, { force: true })
  for (const folder of folders.toReversed())
    try {
      rmdirSync(folder)
    } catch {
      return
    }
}

/** A name beside the file that nothing has yet. */
export function backupPath(path: string): string {
  for (let n = 1; ; n++) {
    const name = `${path}.parley-backup${n === 1 ? '' : `-${n}`}`
    if (!lstatSync(name, { throwIfNoEntry: false })) return name
  }
}
