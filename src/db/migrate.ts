/** Brings a database to the schema of this program: numbered migrations, forward only, applied once. */
import sql, { raw } from 'sql-template-tag'
import type { Clock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { migrationLock, tableNames } from './dialect.ts'
import type { Db, Dialect, Reader, Tx } from './port.ts'

export interface Migration {
  readonly id: number
  readonly name: string
  /** One statement a text. */
  readonly up: (dialect: Dialect, now: number) => readonly string[]
  /** The part that SQL alone cannot do: after the statements, in the same transaction. */
  readonly finish?: (tx: Tx) => Promise<void>
}

/** `newer` and `foreign` databases are left as they are. */
type SchemaState = 'empty' | 'behind' | 'current' | 'newer' | 'foreign'

export const migrationsTable = 'parley_migrations'

/**
 * Applies the missing migrations, in one transaction, and returns them; processes that start at the same time wait and find them done.
 */
export async function migrate(db: Db, migrations: readonly Migration[], clock: Clock): Promise<readonly Migration[]> {
  // Almost always there is nothing to do, and then no lock to wait for.
  if ((await schemaState(db, migrations)) === 'current') return []
  return db.tx((tx) => migrateIn(tx, migrations, clock), { unhurried: true })
}

/** The same as a part of a larger transaction. */
export async function migrateIn(tx: Tx, migrations: readonly Migration[], clock: Clock): Promise<readonly Migration[]> {
  const lock = migrationLock(tx)
  if (lock !== undefined) await tx.all(lock)
  const state = await schemaState(tx, migrations)
  refuse(state)
  if (state === 'current') return []
  if (state === 'empty') {
    await tx.all(
      sql`CREATE TABLE parley_migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`,
    )
  }
  const applied = await appliedIds(tx)
  const missing = migrations.filter(({ id }) => !applied.has(id))
  for (const { id, name, up, finish } of missing) {
    for (const statement of up(tx.dialect, clock.now())) await tx.all(raw(statement))
    await finish?.(tx)
    await tx.all(sql`INSERT INTO parley_migrations (id, name, applied_at) VALUES (${id}, ${name}, ${clock.now()})`)
  }
  return missing
}

/** The state of the database for this program; changes nothing. */
export async function schemaState(db: Reader, migrations: readonly Migration[]): Promise<SchemaState> {
  const tables = await db.all<{ name: string }>(tableNames(db))
  if (tables.length === 0) return 'empty'
  if (!tables.some(({ name }) => name === migrationsTable)) return 'foreign'
  const applied = await appliedIds(db)
  const known = new Set(migrations.map(({ id }) => id))
  if ([...applied].some((id) => !known.has(id))) return 'newer'
  return applied.size < known.size ? 'behind' : 'current'
}

async function appliedIds(db: Reader): Promise<Set<number>> {
  const rows = await db.all<{ id: number }>(sql`SELECT id FROM parley_migrations`)
  return new Set(rows.map(({ id }) => id))
}

function refuse(state: SchemaState): void {
  if (state === 'newer') {
    throw new HubError('DB_SCHEMA_MISMATCH', 'The database was made by a newer Parley; it was not touched.', {
      hint: 'Update this Parley, or name another database with DATABASE_URL.',
    })
  }
  if (state === 'foreign') {
    throw new HubError('DB_SCHEMA_MISMATCH', 'The database holds the tables of another program; it was not touched.', {
      hint: 'Name an empty database (or schema) with DATABASE_URL.',
    })
  }
}
