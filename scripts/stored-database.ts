/** Stores a seeded database of a release for the tests of later ones: `node bin/node24.js scripts/stored-database.ts 0.1.0 [last migration]`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../src/base/clock.ts'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/all.ts'
import { openDb } from '../src/db/open.ts'
import { columnsOf, keptTables, listRowsAfter, listTables } from '../src/store/exports/tables.ts'
import { TestClock } from '../test/support/clock.ts'
import { openTestHub } from '../test/support/hub.ts'
import { seedHub } from '../test/support/seeded.ts'
import { digestOf, type StoredDatabase, storedFolder } from '../test/support/stored-databases.ts'

const [release, last = Number.POSITIVE_INFINITY] = process.argv.slice(2)
if (release === undefined) throw new Error('Name the release.')

const folder = await mkdtemp(join(tmpdir(), 'parley-stored-'))
const db = await openDb(`sqlite:${join(folder, 'stored.sqlite3')}`)
const had = migrations.filter(({ id }) => id <= Number(last))
await migrate(db, had, systemClock)
const clock = new TestClock()
const hub = await openTestHub(db, { clock })
await seedHub(hub, clock, clock.now())
const there = await listTables(db)
const tables: Record<string, unknown> = {}
for (const table of keptTables.filter(({ name }) => there.includes(name)))
  tables[table.name] = (await listRowsAfter(db, table, undefined, 100_000)).map((row) =>
    Object.fromEntries(columnsOf(table, row).map((column) => [column, toJson(row[column])])),
  )
await hub.close()
await rm(folder, { recursive: true })

const digests = Object.fromEntries(had.map((migration) => [migration.id, digestOf(migration)]))
const stored = { migrations: digests, tables } as StoredDatabase
await writeFile(join(storedFolder, `${release}.json.gz`), gzipSync(JSON.stringify(stored), { level: 9 }))

function toJson(value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('hex') } : value
}
