/** The writing connection as one unit of work may use it: until the unit ends or one of its statements fails. */
import type { Sql } from 'sql-template-tag'
import { sqliteFault } from '../faults.ts'
import type { Tx } from '../port.ts'
import { isSelect } from '../statements.ts'
import type { SqliteConnection } from './connection.ts'

const ended = 'This unit of work has ended; its statements belong inside it.'

export class SqliteTx implements Tx {
  readonly dialect = 'sqlite'
  readonly #connection: SqliteConnection
  #failure: unknown
  #ended = false
  #wrote = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async all<Row>(query: Sql): Promise<Row[]> {
    const rows = this.#run('all', query) as Row[]
    if (!isSelect(query)) this.#wrote = true
    return rows
  }

  async insert(query: Sql): Promise<number> {
    const { lastInsertRowid } = this.#run('run', query)
    this.#wrote = true
    return Number(lastInsertRowid)
  }

  async change(query: Sql): Promise<number> {
    const { changes } = this.#run('run', query)
    this.#wrote = true
    return Number(changes)
  }

  enqueue(query: Sql): void {
    if (this.#ended) throw new Error(ended)
    try {
      this.#run('run', query)
      this.#wrote = true
    } catch {
      // The unit fails by it.
    }
  }

  #run<How extends 'all' | 'run'>(how: How, query: Sql): ReturnType<SqliteConnection[How]> {
    if (this.#ended) throw new Error(ended)
    if (this.#failure !== undefined) throw this.#failure
    try {
      return this.#connection[how](query) as ReturnType<SqliteConnection[How]>
    } catch (error) {
      this.#failure = sqliteFault(error)
      throw this.#failure
    }
  }

  /** Whether the unit may have left something in the transaction. A statement that failed has not. */
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
