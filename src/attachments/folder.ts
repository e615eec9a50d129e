/** Reading a file of one folder: never one outside of it, whatever links and names say, and never a part of one. */
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { HubError } from '../base/errors.ts'
import { sizeInWords } from '../base/limits.ts'
import { echo } from '../base/text.ts'

export interface Folder {
  /** As it was named. */
  readonly path: string
  /** With every link followed. */
  readonly real: string
}

/** The folder of this name on this machine; undefined where there is none. */
export async function findFolder(path: string): Promise<Folder | undefined> {
  if (!isAbsolute(path)) return undefined
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? { path, real } : undefined
  } catch {
    return undefined
  }
}

interface Reading {
  /** Bytes of the largest file that is read. */
  readonly most: number
  /** Folders and files, with links followed, that are never read. */
  readonly closed: readonly string[]
  /** Throws why a file is not read, by its path with links followed. */
  readonly judge?: (real: string) => Promise<void>
}

/** The whole file, or undefined if there is none. Anything but a plain file inside of the folder is refused. */
export async function readInside(
  folder: Folder,
  path: string,
  { most, closed, judge }: Reading,
): Promise<Buffer | undefined> {
  if (closed.some((tree) => folder.real === tree || isWithin(tree, folder.real))) throw neverRead(path)
  const wanted = resolve(folder.path, path)
  // By the name alone, first: whether there is a file outside is not told.
  if (!isWithin(folder.path, wanted) && !isWithin(folder.real, wanted)) throw outside(path)
  try {
    const real = await realpath(wanted)
    if (!isWithin(folder.real, real)) throw outside(path)
    if (closed.some((tree) => real === tree || isWithin(tree, real))) throw neverRead(path)
    await judge?.(real)
    // Looked at before it is opened: to open a FIFO waits for a writer, and to open a device may act on it.
    if (!(await lstat(real)).isFile()) throw noFile(path)
    const handle = await open(real, flags)
    try {
      const bytes = await readWhole(handle, path, most)
      if (!(await isStill(handle, real))) throw changed(path)
      return bytes
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof HubError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined
    throw refused(path, `cannot be read by this server (${code})`, { cause: error })
  }
}

const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** In parts, so that no other request waits for a disk; and one byte further than it was long. */
const partBytes = 256 * 1024

async function readWhole(handle: FileHandle, path: string, most: number): Promise<Buffer> {
  const before = await handle.stat({ bigint: true })
  if (!before.isFile()) throw noFile(path)
  if (before.size > BigInt(most)) throw tooLarge(path, most)
  const bytes = Buffer.allocUnsafe(Number(before.size) + 1)
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, Math.min(partBytes, bytes.length - length))
    if (bytesRead === 0) break
    length += bytesRead
  }
  const after = await handle.stat({ bigint: true })
  const same = before.mtimeNs === after.mtimeNs && before.ctimeNs === after.ctimeNs && before.size === after.size
  if (!same || BigInt(length) !== before.size) throw changed(path)
  return bytes.subarray(0, length)
}

/** Between the look at a path and its opening a folder of it may have become a link: what counts is the open file. */
async function isStill(handle: FileHandle, real: string): Promise<boolean> {
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (opened !== undefined) return opened === real
  const [there, here] = [await stat(await realpath(real)), await handle.stat()]
  return there.dev === here.dev && there.ino === here.ino
}

/** Whether a path is below a folder, by their names. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

export const refused = (
  what: string,
  why: string,
  { hint = 'Nothing was sent. Leave it out, or name another file.', cause }: { hint?: string; cause?: unknown } = {},
): HubError => new HubError('INVALID_ARGUMENT', `The attachment ${JSON.stringify(echo(what))} ${why}.`, { hint, cause })

export const tooLarge = (what: string, most: number): HubError =>
  refused(what, `has more than ${sizeInWords(most)}`, {
    hint: 'Nothing was sent. Make it smaller, or tell its path in the text.',
  })

const outside = (path: string): HubError =>
  refused(path, "leaves the project's folder", {
    hint: "Nothing was sent. Name a file inside of the project's folder, by its path from there; links are followed.",
  })

const neverRead = (path: string): HubError =>
  refused(path, 'is a file of Parley itself, which is never read for mail', { hint: giveContent })

/** The way that is always open. */
export const giveContent = 'Nothing was sent. Give the content itself, as a data URI.'

const noFile = (path: string): HubError => refused(path, 'is no plain file')

const changed = (path: string): HubError =>
  refused(path, 'changed while it was read', { hint: 'Nothing was sent. Send again once it is written.' })
