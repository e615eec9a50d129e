/** What a unit of work sees of the writing connection, until it ends or one of its statements fails. */
import type { Sql } from 'sql-template-tag'
import { sqliteFault } from '../faults.ts'
import type { Tx } from '../port.ts'
import type { SqliteConnection } from './connection.ts'

export class SqliteTx implements Tx {
  readonly dialect = 'sqlite'
  readonly writes = true
  readonly #connection: SqliteConnection
  #failure: unknown
  #ended = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async all<Row>(query: Sql): Promise<Row[]> {
    if (this.#ended) throw new Error('This unit of work has ended; its statements belong inside it.')
    if (this.#failure !== undefined) throw this.#failure
    try {
      return this.#connection.all(query) as Row[]
    } catch (error) {
      this.#failure = sqliteFault(error)
      throw this.#failure
    }
  }

  /** Work that went on after a failed statement has failed all the same: in PostgreSQL the transaction would be lost. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  end(): void {
    this.#ended = true
  }
}
