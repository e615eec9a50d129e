/** Databases of earlier releases as files: the rows of every table, and a digest of the SQL that made the tables. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Migration } from '../../src/db/migrate.ts'
import type { Row } from '../../src/store/exports/tables.ts'
import { root } from './sources.ts'

export const storedFolder = join(root, 'test', 'fixtures', 'databases')

export interface StoredDatabase {
  /** The digest of each migration that it has had, by its number. */
  readonly migrations: Readonly<Record<string, string>>
  /** Bytes are hexadecimal, in `{ bytes }`. */
  readonly tables: Readonly<Record<string, readonly Row[]>>
}

export const storedDatabases = (): { release: string; stored: StoredDatabase }[] =>
  readdirSync(storedFolder).map((file) => ({
    release: file.replace('.json.gz', ''),
    stored: JSON.parse(gunzipSync(readFileSync(join(storedFolder, file))).toString()) as StoredDatabase,
  }))

export const digestOf = ({ up }: Migration): string =>
  createHash('sha256')
    .update(JSON.stringify([up('sqlite', 0), up('postgres', 0)]))
    .digest('hex')
