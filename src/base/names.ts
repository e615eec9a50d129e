/** Names of agents and projects: their form, and when two of them are the same. */
import { createHash } from 'node:crypto'
import { limits } from './limits.ts'
import { hasInvisible, isAscii, mixesScripts } from './lookalikes.ts'

/** A URL and a file system can hold such a name as it is (all.names.pattern). */
export const agentNamePattern = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,${limits.agentNameLength - 1}}$`)

/** The same in words. */
export const agentNameRule = `1 to ${limits.agentNameLength} letters, digits, "_" or "-", beginning with a letter or digit`

/** Peers of the bus may be called anything a person can read and tell from others (bus.sizes.limits, bus.names.visible, bus.names.scripts). */
export function busNameFault(name: string): string | undefined {
  const trimmed = name.trim()
  if (trimmed === '' || [...trimmed].length > limits.busNameLength)
    return `must have 1 to ${limits.busNameLength} characters`
  if (/\p{Cc}/u.test(trimmed)) return 'must not contain control characters'
  if (isAscii(trimmed)) return undefined
  if (hasInvisible(trimmed)) return 'must not contain invisible characters'
  return mixesScripts(trimmed) ? 'must not mix letters of different scripts' : undefined
}

export const commons = 'commons'

const broadcasts: ReadonlySet<string> = new Set(['all', 'everyone', 'team', 'broadcast', '*'])

/** A name that a newcomer tries in order to reach all at once: no door sends to it, so no new agent has it (all.recipients.broadcast). */
export const isBroadcast = (name: string): boolean => broadcasts.has(nameKey(name))

/** The sender of Parley's own notices: no other agent may have this name. */
export const hubName = 'Parley'

const hubKey = hubName.toLowerCase()

/** Asked with every call, as `isReserved` is. */
export const isHub = (name: string): boolean =>
  (name.length === hubKey.length || !isAscii(name)) && nameKey(name) === hubKey

/** The sender of messages from people: no agent may have this name. */
export const overseer = 'HumanOverseer'

const reserved = overseer.toLowerCase()

/** However it is spaced: as "human overseer", "Human-Overseer" or "HUMAN_OVERSEER". */
const gap = '[\\s\\p{Pd}\\p{Pc}]*'
const spelled = new RegExp(`^${gap}${[...reserved].join(gap)}${gap}$`, 'u')

/**
 * Names are compared without case, width, form of encoding and characters that nobody sees, and shown as first written
 * (all.names.alike). Every spelling of a reserved name is that name (all.names.reserved).
 */
export function nameKey(name: string): string {
  if (isAscii(name)) {
    const key = name.toLowerCase()
    return key.length >= reserved.length && spelled.test(key) ? reserved : key
  }
  const key = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .normalize('NFKC')
  return spelled.test(key.normalize('NFKD').replace(/\p{M}/gu, '')) ? reserved : key
}

/** Asked with every call. A short name of ASCII, as most are, is told by its length. */
export const isReserved = (name: string): boolean =>
  (name.length >= reserved.length || !isAscii(name)) && nameKey(name) === reserved

/**
 * One spelling for a folder that can be written in several: no `.`, no `..`, no doubled separators, none at its end, no space
 * around it. By the letters alone: whether a folder on the way is a link is not asked (mail.project.spellings).
 */
export function tidyKey(humanKey: string): string {
  const key = humanKey.trim()
  if (!isAbsolutePath(key)) return key.replace(/\/+$/, '') || key.slice(0, 1)
  const { root, separator, names } = partsOf(key)
  return `${root}${names.join(separator)}`
}

/** The form that folders are compared by: drives without case, and one separator for every system. */
export function folderKey(humanKey: string): string {
  const key = tidyKey(humanKey)
  if (!isAbsolutePath(key) || key.startsWith('/')) return key
  return key.replace(/^[A-Za-z]:/, (drive) => drive.toLowerCase()).replaceAll('\\', '/')
}

/** The folders around an absolute path in the form that they are compared by, the innermost first; never the root. */
export function foldersAround(path: string): string[] {
  const { root, separator, names } = partsOf(path.trim())
  const least = root === uncRoot ? 2 : 1
  return names
    .map((_, at) => folderKey(`${root}${names.slice(0, at).join(separator)}`))
    .slice(least)
    .reverse()
}

const uncRoot = '\\\\'

/** `..` leaves neither the root nor, of a UNC path, the share. */
function partsOf(path: string): { root: string; separator: string; names: string[] } {
  const [root = '/'] = /^(?:[A-Za-z]:[\\/]|\\\\|\/)/.exec(path) ?? []
  const posix = root === '/'
  const fixed = root === uncRoot ? 2 : 0
  const names: string[] = []
  for (const name of path.slice(root.length).split(posix ? '/' : /[\\/]/)) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.length > fixed) names.pop()
  }
  return { root, separator: root.slice(-1), names }
}

/** POSIX, with a drive letter, or UNC. It need not exist on this machine. */
export const isAbsolutePath = (key: string): boolean => /^(?:\/|[A-Za-z]:[\\/]|\\\\[^\\/])/.test(key.trim())

/** A readable slug: the last part of the key and a short hash of all of it, as in `backend-3f9a1c`. */
export function slugOf(humanKey: string, hashLength = 6): string {
  if (humanKey === commons) return commons
  const hash = createHash('sha256').update(folderKey(humanKey)).digest('hex').slice(0, hashLength)
  return `${slugWord(humanKey) || 'project'}-${hash}`
}

/** The part of a slug that people know: the last part of the key. */
export function slugWord(humanKey: string): string {
  const last = humanKey.split(/[\\/]/).findLast((part) => /[A-Za-z0-9]/.test(part)) ?? ''
  return last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
}

/** A slug without its hash: `backend` of `backend-3f9a1c`. */
export const slugName = (slug: string): string => slug.replace(/-[0-9a-f]{6,64}$/, '')
