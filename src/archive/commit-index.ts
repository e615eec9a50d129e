/** A file of places of one size, found by number: which commit a message is in. The file has holes where nothing is. */
import { closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Commits are found by the number of a message, an agent or a lease. Of topics the name of the file is kept. */
export type Noun = 'messages' | 'agents' | 'leases' | 'topics'

/** Parley's own files in a repository. */
export const ownFolder = (folder: string): string => join(folder, '.git', 'parley')

/** Where a noun's numbers are kept, in the folder of a repository. */
export const slotsOf = (folder: string, noun: Noun): string => join(ownFolder(folder), noun)

/** Of 20 bytes each, as the name of a commit has. */
const width = 20

const openFlags = constants.O_RDWR | constants.O_CREAT

/** Writing the same again does no harm: after a death it is done over. */
export function writeSlots(path: string, slots: ReadonlyMap<number, Buffer>): void {
  if (slots.size === 0) return
  mkdirSync(dirname(path), { recursive: true })
  const handle = openSync(path, openFlags, 0o600)
  try {
    for (const [n, bytes] of slots) writeSync(handle, bytes, 0, width, n * width)
  } finally {
    closeSync(handle)
  }
}

/** The numbers that have something. */
export function readSlots(path: string, numbers: readonly number[]): Map<number, Buffer> {
  const found = new Map<number, Buffer>()
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch {
    return found
  }
  try {
    for (const n of numbers) {
      const bytes = Buffer.alloc(width)
      const length = readSync(handle, bytes, 0, width, n * width)
      if (length === width && bytes.some((byte) => byte !== 0)) found.set(n, bytes)
    }
    return found
  } finally {
    closeSync(handle)
  }
}
