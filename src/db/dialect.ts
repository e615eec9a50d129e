/** The differences between the engines, by name: everything else is one SQL, and nobody asks which engine runs. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Dialect, Reader } from './port.ts'

interface Capabilities {
  /** Transactions write beside each other: rows have to be locked, and a lower id may become visible after a higher one. */
  readonly concurrentWriters: boolean
  /** A statement can be a transaction by itself: many units of work sent as one statement cost one round trip. */
  readonly autocommitBatches: boolean
  /** A unit of work that another one starts joins its transaction, and sees what is not committed yet. */
  readonly sharedTransactions: boolean
  /** A unit of work may wait for more than its statements, as for a file: nobody waits behind it. */
  readonly patientUnits: boolean
  /** A wake-up from another process names the channels. */
  readonly namedWakes: boolean
  /** The indexes of inboxes and outboxes are written in bulk behind the sends: in each commit they cost more pages than the rows. */
  readonly bulkFiling: boolean
  /** A subquery in FROM may refer to the tables before it. */
  readonly lateralJoins: boolean
  readonly fullText: 'fts5' | 'tsvector'
}

const capabilities: Readonly<Record<Dialect, Capabilities>> = {
  sqlite: {
    concurrentWriters: false,
    autocommitBatches: false,
    sharedTransactions: true,
    patientUnits: false,
    namedWakes: false,
    bulkFiling: true,
    lateralJoins: false,
    fullText: 'fts5',
  },
  postgres: {
    concurrentWriters: true,
    autocommitBatches: true,
    sharedTransactions: false,
    patientUnits: true,
    namedWakes: true,
    bulkFiling: false,
    lateralJoins: true,
    fullText: 'tsvector',
  },
}

export const can = ({ dialect }: { dialect: Dialect }): Capabilities => capabilities[dialect]

/** The name of the engine, for a file that says where it came from. */
export const engineOf = ({ dialect }: { dialect: Dialect }): Dialect => dialect

/**
 * Ends a SELECT that takes a row of the table called `of` and passes over those that others are taking. SQLite has one writer
 * at a time: nothing can be locked by another.
 */
export function skipLocked({ dialect }: { dialect: Dialect }, of?: string): Sql {
  return dialect === 'postgres' ? raw(`FOR UPDATE${of === undefined ? '' : ` OF ${of}`} SKIP LOCKED`) : empty
}

/**
 * Ends a SELECT whose row (of the table called `of`) nobody else may change until the transaction ends. Rows that refer
 * to it can still be written: with a plain FOR UPDATE every send would wait for the making of a topic. Outside of a
 * transaction a lock would end with its statement: there it only reads.
 */
export function forUpdate(db: Reader, of?: string): Sql {
  const locks = db.dialect === 'postgres' && 'enqueue' in db
  return locks ? raw(`FOR NO KEY UPDATE${of === undefined ? '' : ` OF ${of}`}`) : empty
}

/** Ids for `IN`, whose rows are locked one after the other in this order. SQLite has one writer at a time and needs no lock. */
export function inOrder(db: Reader, table: Sql, ids: readonly number[]): Sql {
  const list = sql`(${join([...ids])})`
  return db.dialect === 'postgres'
    ? sql`(SELECT id FROM ${table} WHERE id IN ${list} ORDER BY id ${forUpdate(db)})`
    : list
}

/** The same for a row that is about to go: nor may anybody refer to it. */
export function forDelete({ dialect }: { dialect: Dialect }): Sql {
  return dialect === 'postgres' ? raw('FOR UPDATE') : empty
}

/** The same for a row that a new one refers to by its name alone: it stays until the transaction ends. */
export function forReference({ dialect }: { dialect: Dialect }): Sql {
  return dialect === 'postgres' ? raw('FOR KEY SHARE') : empty
}

/** Ids as one value, so that lists of any length are one statement. */
export function listed({ dialect }: { dialect: Dialect }, ids: readonly number[]): Sql {
  const text = JSON.stringify(ids)
  return dialect === 'postgres'
    ? sql`(SELECT value::bigint FROM json_array_elements_text(${text}::json))`
    : sql`(SELECT value FROM json_each(${text}))`
}

/** The same for texts: a SELECT of them, in small letters. */
export function lowerCased({ dialect }: { dialect: Dialect }, texts: readonly string[]): Sql {
  const text = JSON.stringify(texts)
  return dialect === 'postgres'
    ? sql`SELECT lower(value) FROM json_array_elements_text(${text}::json)`
    : sql`SELECT lower(value) FROM json_each(${text})`
}

/** A SELECT of numbers as one value: rows of whole numbers, with these names. */
export function numberRows<Column extends string>(
  { dialect }: { dialect: Dialect },
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, number>>[],
): Sql {
  const text = JSON.stringify(rows.map((row) => columns.map((column) => row[column])))
  const cell = (at: number): string =>
    dialect === 'postgres' ? `(value->>${at})::bigint` : `json_extract(value, '$[${at}]')`
  const cells = raw(columns.map((column, at) => `${cell(at)} AS ${column}`).join(', '))
  return dialect === 'postgres'
    ? sql`SELECT ${cells} FROM json_array_elements(${text}::json) AS listed (value)`
    : sql`SELECT ${cells} FROM json_each(${text})`
}

/** Selects the last number (`last`) that each table (`name`) has given to a row, also where the row is gone. */
export function lastIds({ dialect }: { dialect: Dialect }): Sql {
  return dialect === 'postgres'
    ? sql`SELECT substr(sequencename, 1, length(sequencename) - 7) AS name, last_value AS last FROM pg_sequences
        WHERE schemaname = current_schema() AND sequencename LIKE '%\_id\_seq' AND last_value IS NOT NULL`
    : sql`SELECT name, seq AS last FROM sqlite_sequence WHERE seq > 0`
}

/** Lets a table go on after this number. */
export function continueIds({ dialect }: { dialect: Dialect }, table: string, last: number): readonly Sql[] {
  if (dialect === 'postgres') return [sql`SELECT setval(pg_get_serial_sequence(${table}, 'id'), ${last}::bigint)`]
  return [
    sql`DELETE FROM sqlite_sequence WHERE name = ${table}`,
    sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`,
  ]
}

/** The column type of a number that the database gives to each new row; for migrations. */
export function identity(dialect: Dialect): string {
  return dialect === 'postgres'
    ? 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY'
    : 'INTEGER PRIMARY KEY AUTOINCREMENT'
}

/** The column type of bytes; for migrations. */
export const bytea = (dialect: Dialect): string => (dialect === 'postgres' ? 'BYTEA' : 'BLOB')

/** Orders a text column by its bytes, as SQLite does, so that what begins alike stands together; for migrations. */
export function bytewise(dialect: Dialect): string {
  return dialect === 'postgres' ? 'COLLATE "C"' : 'COLLATE BINARY'
}

/** The tables of this database (of this schema, in PostgreSQL), without those an engine or an extension brought along. */
export function tableNames({ dialect }: { dialect: Dialect }): Sql {
  if (dialect === 'sqlite') {
    return sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'`
  }
  return sql`SELECT c.relname::text AS name FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')`
}

/** Makes other processes that migrate wait until this transaction ends. SQLite's writers wait for each other anyway. */
export function migrationLock({ dialect }: { dialect: Dialect }): Sql | undefined {
  return dialect === 'postgres' ? sql`SELECT pg_advisory_xact_lock(${migrationLockKey})` : undefined
}

/**
 * Writes nothing that anybody reads, and its commit waits for the standby: then all that was committed before is there too. A
 * commit that writes nothing waits for nobody.
 */
export function standbyMark({ dialect }: { dialect: Dialect }): Sql | undefined {
  return dialect === 'postgres' ? sql`SELECT pg_logical_emit_message(true, 'parley', '')` : undefined
}

/** Any number that others on the same server are unlikely to lock: "Parl" in ASCII. */
const migrationLockKey = 0x5061726c
