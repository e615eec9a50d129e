/** The folders and files of this machine that mail never carries, by their names and by what they hold. */
import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { isWithin } from './folder.ts'

/** The system's own trees. The files of some are made as they are read, and tell of this process. */
const systemTrees = [
  ...['/bin', '/boot', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/sbin', '/sys'],
  ...['/usr/bin', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libexec', '/usr/sbin', '/usr/share'],
  ...['/run/credentials', '/run/secrets', '/var/backups', '/var/db', '/var/log', '/var/mail', '/var/spool'],
  ...['/Library', '/System', '/private/etc', '/private/var/db', '/private/var/log'],
  ...['C:\\Program Files', 'C:\\Program Files (x86)', 'C:\\ProgramData', 'C:\\Windows'],
]

/** Folders that hold those of many: a project may be below them, and is never one of them. */
const shared = [
  ...['/dev', '/dev/shm', '/home', '/media', '/mnt', '/opt', '/root', '/run', '/srv', '/tmp', '/usr', '/usr/local'],
  ...['/usr/src', '/var', '/var/lib', '/var/tmp', '/Applications', '/Users', '/Volumes', '/private', 'C:\\Users'],
]

const homes = ['/home', '/Users', 'C:\\Users']

/** `folder` has its links followed. A folder around the home folder is none of a project either. */
export async function isSystemFolder(folder: string): Promise<boolean> {
  const above = dirname(folder)
  if (above === folder || shared.includes(folder) || homes.includes(above)) return true
  if (systemTrees.some((tree) => isSameOrWithin(tree, folder))) return true
  return (await homeFolders()).some((home) => isSameOrWithin(folder, home))
}

/** The home folder of the user, as it is named and with links followed. */
export async function homeFolders(): Promise<string[]> {
  const home = homeFolder()
  return home === undefined ? [] : [home, await realpath(home).catch(() => home)]
}

export function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    // A user that the system does not know has none.
    return undefined
  }
}

export const isSameOrWithin = (folder: string, path: string): boolean => folder === path || isWithin(folder, path)

/** Whether a file, or a folder on the way to it, is hidden. */
export const isHidden = (folder: string, path: string): boolean =>
  relative(folder, path)
    .split(sep)
    .some((name) => name.startsWith('.'))

const keyName = /(?:^|[\\/])id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$|\.(?:jks|kdbx|key|keystore|p12|p8|pem|pfx|ppk)$/i

/** Marks in the files of programs that make private keys. */
const keyMarks = ['PRIVATE KEY-----', 'PRIVATE KEY BLOCK-----', 'PuTTY-User-Key-File', 'AGE-SECRET-KEY-1']

export const isKeyName = (path: string): boolean => keyName.test(path)

export const holdsKey = (bytes: Buffer): boolean => keyMarks.some((mark) => bytes.includes(mark))

/** The folders from that of a file up to `top`, which is around it, the nearest first. */
export function foldersUpTo(top: string, path: string): string[] {
  const way = relative(top, dirname(path))
  if (isAbsolute(way)) return [top]
  const names = way === '' ? [] : way.split(sep)
  return [...names.map((_, at) => join(top, ...names.slice(0, names.length - at))), top]
}
