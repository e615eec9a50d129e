/** Databases of earlier releases as files: the rows of every table, and a digest of the SQL that made the tables. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Clock } from '../../src/base/clock.ts'
import { type Migration, migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/all.ts'
import type { Db } from '../../src/db/port.ts'
import { deleteAllRows, insertRows, type Row, updateLastId } from '../../src/store/exports/tables.ts'
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

/** Makes an empty database what it was at that release. */
export async function fillStored(db: Db, { migrations: had, tables }: StoredDatabase, clock: Clock): Promise<void> {
  await migrate(
    db,
    migrations.filter(({ id }) => id in had),
    clock,
  )
  await db.tx(async (tx) => {
    await deleteAllRows(tx)
    for (const [name, rows] of Object.entries(tables)) {
      const [first] = rows
      if (first === undefined) continue
      const columns = Object.keys(first)
      await insertRows(
        tx,
        name,
        columns,
        rows.map((row) => columns.map((column) => fromJson(row[column]))),
      )
      if (typeof first.id === 'number') await updateLastId(tx, name, Math.max(...rows.map(({ id }: Row) => Number(id))))
    }
  })
}

const fromJson = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'bytes' in value ? Buffer.from(String(value.bytes), 'hex') : value
