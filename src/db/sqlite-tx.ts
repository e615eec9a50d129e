/** What a unit of work sees of the writing connection, until it ends or one of its statements fails. */
import type { SQLInputValue } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'
import { sqliteFault } from './faults.ts'
import type { Tx } from './port.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

export class SqliteTx implements Tx {
  readonly dialect = 'sqlite'
  readonly writes = true
  readonly #connection: SqliteConnection
  #failure: unknown
  #wrote = false
  #ended = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async all<Row>(query: Sql): Promise<Row[]> {
    if (this.#ended) throw new Error('This unit of work has ended; its statements belong inside it.')
    if (this.#failure !== undefined) throw this.#failure
    try {
      const { statement, reads } = this.#connection.prepared(query)
      const rows = statement.all(...(query.values as SQLInputValue[]))
      if (!reads) this.#wrote = true
      return rows as Row[]
    } catch (error) {
      this.#failure = sqliteFault(error)
      throw this.#failure
    }
  }

  /** A statement that failed has undone itself. */
  get wrote(): boolean {
    return this.#wrote
  }

  /** Work that went on after a failed statement has failed all the same: in PostgreSQL the transaction would be lost. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  end(): void {
    this.#ended = true
  }
}
