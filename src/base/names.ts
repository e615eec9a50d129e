/** Names of agents and projects: their form, and when two of them are the same. */
import { createHash } from 'node:crypto'
import { limits } from './limits.ts'

/** A URL and a file system can hold such a name as it is (all.names.pattern). */
export const agentNamePattern = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,${limits.agentNameLength - 1}}$`)

/** The same in words. */
export const agentNameRule = `1 to ${limits.agentNameLength} letters, digits, "_" or "-", beginning with a letter or digit`

/** Names are compared without case, however an accent is encoded, and shown as first written. */
export const nameKey = (name: string): string => name.normalize('NFC').toLowerCase()

export const commons = 'commons'

/** The sender of messages from people: no agent may have this name. */
export const overseer = 'HumanOverseer'

const reserved = nameKey(overseer)

export const isReserved = (name: string): boolean => name.length >= reserved.length && nameKey(name.trim()) === reserved

/** One spelling for a folder that can be written in several: no slash at its end, no space around it. */
export function tidyKey(humanKey: string): string {
  const key = humanKey.trim()
  const separators = /^(?:[A-Za-z]:|\\\\)/.test(key) ? /[\\/]+$/ : /\/+$/
  return key.replace(separators, '') || key.slice(0, 1)
}

/** POSIX, with a drive letter, or UNC. It need not exist on this machine. */
export const isAbsolutePath = (key: string): boolean => /^(?:\/|[A-Za-z]:[\\/]|\\\\[^\\/])/.test(key.trim())

/** A readable slug: the last part of the key and a short hash of all of it, as in `backend-3f9a1c`. */
export function slugOf(humanKey: string, hashLength = 6): string {
  if (humanKey === commons) return commons
  const hash = createHash('sha256').update(humanKey).digest('hex').slice(0, hashLength)
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
