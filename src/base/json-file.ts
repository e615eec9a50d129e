/** A JSON file of our own that keeps an object under one name. */
import { readFileSync } from 'node:fs'

/** A file that holds something else; its text may hold secrets, and is not told. */
export const unreadable = Symbol('unreadable')

/** Undefined where there is no file. */
export function readKept<Kept extends object>(file: string, name: string): Kept | undefined | typeof unreadable {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const kept = (JSON.parse(text) as Readonly<Record<string, Kept>>)[name]
    return typeof kept === 'object' && kept !== null ? kept : unreadable
  } catch {
    return unreadable
  }
}
