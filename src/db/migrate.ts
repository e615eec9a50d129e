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
  /**
   * Nodes that know the migration of this number go on beside this one. To add is to name the last migration of the release
   * before; to take away is to name the one whose nodes use it no more. Left out, no older node can: it is refused at its start.
   */
  readonly besideFrom?: number
}

/** A migration that was applied, and how long it held its locks. */
interface AppliedStep {
  readonly id: number
  readonly name: string
  readonly ms: number
}

/** `newer` and `foreign` databases are left as they are; an `ahead` one is newer, and this program can work with it. */
type SchemaState = 'empty' | 'behind' | 'current' | 'ahead' | 'newer' | 'foreign'

export const migrationsTable = 'parley_migrations'

/**
 * Applies the missing migrations, each in a transaction of its own, and returns those that this process applied. Processes that
 * start at the same time wait at each step and find it done; one that dies leaves whole steps.
 */
export async function migrate(db: Db, migrations: readonly Migration[], clock: Clock): Promise<readonly AppliedStep[]> {
  const applied: AppliedStep[] = []
  for (;;) {
    const state = await schemaState(db, migrations)
    // Almost always there is nothing to do, and then no lock to wait for.
    if (state === 'current' || state === 'ahead') return applied
    // Nobody waits for an empty database, and one flush is faster than one a step.
    const most = state === 'empty' ? migrations.length : 1
    applied.push(...(await db.tx((tx) => migrateIn(tx, migrations, clock, most), { unhurried: true })))
  }
}

/** The next missing migrations, as a part of a larger transaction. */
export async function migrateIn(
  tx: Tx,
  migrations: readonly Migration[],
  clock: Clock,
  most = migrations.length,
): Promise<readonly AppliedStep[]> {
  const lock = migrationLock(tx)
  if (lock !== undefined) await tx.all(lock)
  const state = await schemaState(tx, migrations)
  refuse(state)
  if (state === 'empty') {
    await tx.all(
      sql`CREATE TABLE parley_migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`,
    )
  }
  const steps: AppliedStep[] = []
  for (const migration of (await missingFrom(tx, migrations)).slice(0, most)) {
    const begun = clock.now()
    await apply(tx, migration, begun)
    steps.push({ id: migration.id, name: migration.name, ms: clock.now() - begun })
  }
  return steps
}

async function apply(tx: Tx, { id, name, up, finish, besideFrom }: Migration, now: number): Promise<void> {
  for (const statement of up(tx.dialect, now)) await tx.all(raw(statement))
  await finish?.(tx)
  await tx.all(sql`INSERT INTO parley_migrations (id, name, applied_at) VALUES (${id}, ${name}, ${now})`)
  // By itself: the migration that adds the column is a row of this table too.
  if (besideFrom !== undefined)
    await tx.all(sql`UPDATE parley_migrations SET beside_from = ${besideFrom} WHERE id = ${id}`)
}

/** The state of the database for this program; changes nothing. */
export async function schemaState(db: Reader, migrations: readonly Migration[]): Promise<SchemaState> {
  const tables = await db.all<{ name: string }>(tableNames(db))
  if (tables.length === 0) return 'empty'
  if (!tables.some(({ name }) => name === migrationsTable)) return 'foreign'
  const applied = await appliedRows(db)
  const known = new Set(migrations.map(({ id }) => id))
  const newest = Math.max(0, ...known)
  const strangers = applied.filter(({ id }) => !known.has(id))
  if (strangers.some(({ beside_from }) => !(beside_from && beside_from <= newest))) return 'newer'
  if (applied.length - strangers.length < known.size) return 'behind'
  return strangers.length > 0 ? 'ahead' : 'current'
}

/** The migrations that this database of Parley has not had. */
export async function missingFrom(db: Reader, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const applied = new Set((await appliedRows(db)).map(({ id }) => id))
  return migrations.filter(({ id }) => !applied.has(id))
}

/** Without the column where an older program has made the table. */
const appliedRows = (db: Reader) =>
  db.all<{ id: number; beside_from?: number | null }>(sql`SELECT * FROM parley_migrations`)

export function refuse(state: SchemaState): void {
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
