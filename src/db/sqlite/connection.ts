/** One connection to a SQLite file, which keeps its prepared statements. */
import { DatabaseSync, type SQLInputValue, type StatementResultingChanges, type StatementSync } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'
import { Statements } from '../statements.ts'
import { synchronous } from './disk.ts'

/**
 * SQLite looks at the value of a parameter that stands alone behind LIMIT, and compiles the statement anew each time that it
 * is bound: a page of an inbox then takes 135 µs instead of 61. At a sum it does not look.
 */
const steady = (sql: string): string => sql.replace(/\bLIMIT \?/g, 'LIMIT ? + 0')

interface Prepared {
  readonly statement: StatementSync
  readonly toRow: ToRow
}

type ToRow = (values: readonly unknown[]) => unknown

/**
 * Makes an object of a row's values, as a literal in code would: V8 then knows its shape beforehand. 1,500 rows of eight
 * columns take 0.05 ms, and 0.36 where each name is looked up.
 */
const rowMaker = (names: readonly string[]): ToRow =>
  new Function('v', `return {${names.map((name, at) => `${JSON.stringify(name)}:v[${at}]`).join()}}`) as ToRow

export class SqliteConnection {
  readonly #db: DatabaseSync
  readonly #statements: Statements<Prepared>

  /** `timeout` is how long SQLite itself waits for a lock, which blocks the whole process. */
  constructor(file: string, { timeout }: { timeout: number }) {
    this.#db = new DatabaseSync(file, { timeout, enableForeignKeyConstraints: true })
    this.#statements = new Statements(({ sql }) => this.#prepare(steady(sql)))
  }

  #prepare(text: string): Prepared {
    const statement = this.#db.prepare(text)
    statement.setReturnArrays(true)
    return { statement, toRow: rowMaker(statement.columns().map(({ name }) => name)) }
  }

  /**
   * Rows of any query. Values other than SQLite's are refused by SQLite itself. The objects that `node:sqlite` would make are
   * dictionaries: 1,500 rows of eight columns took 4.1 ms as those, and take 2.2 ms as objects made here.
   */
  all(query: Sql): unknown[] {
    const { statement, toRow } = this.#statements.for(query)
    const rows = statement.all(...(query.values as SQLInputValue[])) as unknown as unknown[][]
    return rows.map((values) => toRow(values))
  }

  /** A statement that brings no rows. */
  run(query: Sql): StatementResultingChanges {
    return this.#statements.for(query).statement.run(...(query.values as SQLInputValue[]))
  }

  prepare(text: string): StatementSync {
    return this.#db.prepare(text)
  }

  /** Runs a pragma and returns its one value, if it has one. */
  pragma(text: string): unknown {
    const row = this.#db.prepare(`PRAGMA ${text}`).get()
    return row === undefined ? undefined : Object.values(row)[0]
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }
}

/** How long a read waits inside SQLite. In WAL mode that happens only while another process recovers or closes the file. */
export const readTimeoutMs = 5_000

export function openReading(file: string): SqliteConnection {
  const connection = new SqliteConnection(file, { timeout: readTimeoutMs })
  connection.pragma('query_only = ON')
  return connection
}

/**
 * Where the thread of checkpoints.ts is not heard of at all: 512 MB. A WAL that grew while a backup read can be as long as
 * 60,000 pages, and to move it here held up one commit for 110 to 500 ms.
 */
const checkpointPages = 128_000

/** The settings of every connection that writes. */
export function prepareWriting(connection: SqliteConnection): void {
  connection.pragma(`synchronous = ${synchronous}`)
  // Savepoints copy the pages they change; kept in a temporary file, that doubles the cost of a send (34 → 60 µs).
  connection.pragma('temp_store = MEMORY')
  connection.pragma(`wal_autocheckpoint = ${checkpointPages}`)
}
