/** The last part of a backup: what is in it, and a checksum of every other part. */
import { HubError } from '../../base/errors.ts'
import type { Dialect } from '../../db/port.ts'

export interface Part {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

export interface Manifest {
  readonly format: typeof format
  readonly version: number
  /** The Parley that made it. */
  readonly parley: string
  readonly created_at: string
  readonly engine: Dialect
  /** The migrations of the database. */
  readonly migrations: readonly number[]
  /** The last number that each table has given to a row. */
  readonly last_ids: Readonly<Record<string, number>>
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>
  /** The projects whose archive is in it. */
  readonly archives: readonly string[]
  readonly parts: readonly Part[]
}

const format = 'parley-backup'

/** Another one is another format, and is refused. */
const version = 1

export const manifestName = 'manifest.json'

export const newManifest = (facts: Omit<Manifest, 'format' | 'version'>): Manifest => ({ format, version, ...facts })

export function readManifest(text: string, file: string): Manifest {
  const found = parsed(text)
  if (found?.format !== format) throw damaged(file, 'its manifest is not one of a backup')
  if (found.version !== version)
    throw new HubError('INVALID_ARGUMENT', `${file} was made by a newer Parley: its format is ${found.version}.`, {
      hint: 'Nothing was changed. Update this Parley, then restore.',
    })
  return found
}

/** The file may be anybody's: a field of another type is no field of ours. */
function parsed(text: string): Manifest | undefined {
  try {
    const found = JSON.parse(text) as Manifest
    const { parts, migrations, archives, counts, last_ids, created_at, parley } = found
    const fine =
      [parts, migrations, archives].every(Array.isArray) &&
      [counts, last_ids].every((one) => Object.values(one).every(Number.isSafeInteger)) &&
      parts.every((part) => typeof part.name === 'string') &&
      [...archives, created_at, parley].every((one) => typeof one === 'string')
    return fine ? found : undefined
  } catch {
    return undefined
  }
}

export const damaged = (file: string, why: string, cause?: unknown): HubError =>
  new HubError('INVALID_ARGUMENT', `${file} cannot be restored: ${why}.`, {
    hint: 'Nothing was changed. Take another copy of the backup, or another backup.',
    cause,
  })
