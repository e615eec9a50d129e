/** The PostgreSQL connection as a unit of work sees it, until it ends or one of its statements fails. */
import type { ClientConfig, PoolClient, QueryConfig, QueryResult } from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { postgresFault, Unsure } from '../faults.ts'
import type { Tx } from '../port.ts'
import { commitFault, needStandby } from './commit.ts'
import type { PostgresStatements } from './statements.ts'

/** The longest that a timer can take: 24 days. */
const unlimitedMs = 2 ** 31 - 1

export class PostgresTx implements Tx {
  readonly dialect = 'postgres'
  readonly #client: PoolClient
  readonly #statements: PostgresStatements
  readonly #unhurried: boolean
  readonly #begin: string
  #failure: unknown
  #state: 'untouched' | 'begun' | 'committed'
  #ended = false
  /** Whether its BEGIN failed. */
  #outside = false

  constructor(
    client: PoolClient,
    statements: PostgresStatements,
    { unhurried = false, begun = false, limits = '' } = {},
  ) {
    this.#client = client
    this.#statements = statements
    this.#unhurried = unhurried
    this.#begin = `BEGIN${limits}`
    this.#state = begun ? 'begun' : 'untouched'
  }

  /** Not awaited: it goes out with the first statement, which fails if this does, and names no other reason. */
  begin(): void {
    if (this.#state !== 'untouched') return
    this.#state = 'begun'
    this.#client.query(this.#begin).catch((error) => {
      this.#failure ??= error
      this.#outside = true
    })
    if (this.#unhurried)
      this.#client.query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0').catch(() => {})
  }

  get autocommit() {
    return this.#state === 'untouched' && !this.#unhurried ? this.#commitAlone : undefined
  }

  readonly #commitAlone = async <Row>(query: Sql): Promise<Row[]> => {
    this.#open()
    this.#state = 'committed'
    const { rows } = await this.#client.query(this.#statements.bind(query)).catch((error) => {
      this.#failure = error
      throw commitFault(error)
    })
    needStandby(this.#client)
    return rows as Row[]
  }

  /** Whether its statement has committed itself. */
  get committed(): boolean {
    return this.#state === 'committed'
  }

  async all<Row>(query: Sql): Promise<Row[]> {
    const { rows } = await this.#run(query)
    return rows as Row[]
  }

  async insert(query: Sql): Promise<number> {
    const { rows } = await this.#run(sql`${query} RETURNING id`)
    return (rows[0] as { id: number }).id
  }

  async change(query: Sql): Promise<number> {
    const { rowCount } = await this.#run(query)
    return rowCount ?? 0
  }

  enqueue(query: Sql): void {
    this.#open()
    this.#run(query).catch(() => {})
  }

  #open(): void {
    if (this.#ended || this.#state === 'committed')
      throw new Error('This unit of work has ended; its statements belong inside it.')
  }

  async #run(query: Sql): Promise<QueryResult> {
    this.#open()
    if (this.#failure !== undefined) throw postgresFault(this.#failure)
    this.begin()
    const result = await this.#client.query(this.#bind(query)).catch((error) => {
      // Of statements sent together only the first names the fault, the others only that there was one.
      this.#failure ??= error
      throw postgresFault(this.#failure)
    })
    if (!this.#outside) return result
    // It has committed itself.
    this.#failure = new Unsure(this.#failure)
    throw this.#failure
  }

  /** A migration changes the tables that prepared statements were made for: what is unhurried prepares none. */
  #bind(query: Sql): QueryConfig & Pick<ClientConfig, 'query_timeout'> {
    if (!this.#unhurried) return this.#statements.bind(query)
    return { text: query.text, values: query.values, query_timeout: unlimitedMs }
  }

  /** As the driver reported it. */
  get failure(): unknown {
    return this.#failure
  }

  /** Work that went on after a failed statement has failed all the same: its COMMIT would be a ROLLBACK. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw postgresFault(this.#failure)
  }

  end(): void {
    this.#ended = true
  }
}
