/** The record of what init has put into which files: `clients.json` in the user's folder of Parley. It holds no secret. */
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { readKept, unreadable } from '../base/json-file.ts'
import { removeMade, replaceFile } from './files.ts'
import { type Format, LeaveAlone, type Placed } from './shapes.ts'

export interface RecordedEdit extends Placed {
  /** Several clients may read one file, and one file may have settings of several folders; what they share goes with the last of them. */
  readonly owners: readonly Owner[]
}

/** A client, and the scope of its settings: `user`, or the folder that they are for. */
export type Owner = `${string} ${string}`

export const clientOfOwner = (owner: Owner): string => owner.slice(0, owner.indexOf(' '))

export const scopeOfOwner = (owner: Owner): string => owner.slice(owner.indexOf(' ') + 1)

export interface RecordedFile {
  readonly format: Format
  /** Whether init made the file, and which folders for it. */
  readonly made: boolean
  readonly folders: readonly string[]
  /** The hash of the file as init left it: as long as it is that, taking out is bringing back the backup. */
  readonly written: string
  /** The file as it would be without init; absent where init made it. */
  readonly backup?: string
  readonly edits: readonly RecordedEdit[]
}

/** By the path behind all symlinks. */
export type InitRecord = Readonly<Record<string, RecordedFile>>

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export function readRecord(file: string): InitRecord {
  const files = readKept<InitRecord>(file, 'files')
  if (files !== unreadable) return files ?? {}
  throw new LeaveAlone(`${file} cannot be read: it is the record of what init wrote. Mend it or move it away`)
}

/** Where nothing is left to remember, no file is left either. */
export function writeRecord(file: string, files: InitRecord): void {
  if (Object.keys(files).length === 0) removeMade(file, [dirname(file)])
  else replaceFile(file, `${JSON.stringify({ files }, null, 2)}\n`, 0o600)
}
