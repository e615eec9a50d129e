/** The database port on PostgreSQL: a pool for the work, and one connection for the wake-ups. */
import { randomInt } from 'node:crypto'
import { Pool, type PoolClient } from 'pg'
import type { Sql } from 'sql-template-tag'
import { pause } from '../../base/clock.ts'
import { isPostgresRace, isPostgresSilence, isPostgresStale, postgresFault, shuttingDown } from '../faults.ts'
import type { Db, DbFigures, DbObserver, Reader, Tx, TxOptions, Wake } from '../port.ts'
import { commit } from './commit.ts'
import { PostgresNotices } from './notices.ts'
import { clientSettings, connectionError } from './settings.ts'
import { gatheringSocket } from './socket.ts'
import { PostgresStatements } from './statements.ts'
import { PostgresTx } from './tx.ts'

/** How often a unit runs that keeps losing against others (deadlock, serialisation failure). */
const attempts = 8

export async function openPostgres(url: string, connections = 10): Promise<Db> {
  const settings = clientSettings(url)
  // Pipelining sends BEGIN with the first statement, and COMMIT with those that nobody waits for.
  const pool = new Pool({ ...settings, max: connections, pipeline: true, stream: gatheringSocket })
  // A connection that breaks while idle leaves the pool by itself; one that breaks in use fails its query.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  try {
    const { rows } = await pool.query<{ schema: number }>('SELECT current_schema()::regnamespace::oid AS schema')
    return new PostgresDb(pool, new PostgresNotices(settings, `parley_${rows[0]?.schema}`))
  } catch (error) {
    await pool.end()
    throw connectionError(settings, error)
  }
}

class PostgresDb implements Db {
  readonly dialect = 'postgres'
  /** Every query waits for another process here. */
  readonly long = this
  readonly #pool: Pool
  readonly #notices: PostgresNotices
  readonly #statements = new PostgresStatements()
  readonly #running = new Set<Promise<unknown>>()
  readonly #born = new WeakMap<PoolClient, number>()
  /** When a connection was last found to be silent or outlived, by the process's own clock. */
  #uselessAt = 0
  #closing: Promise<void> | undefined
  #observer: DbObserver | undefined

  constructor(pool: Pool, notices: PostgresNotices) {
    this.#pool = pool
    this.#notices = notices
    pool.on('connect', (client) => this.#born.set(client, performance.now()))
  }

  all<Row>(query: Sql): Promise<Row[]> {
    return this.#track(async () => {
      for (;;) {
        const client = await this.#connect()
        try {
          const { rows } = await client.query(this.#statements.bind(query))
          client.release()
          return rows
        } catch (error) {
          client.release(true)
          this.#noteUseless(error)
          if (!isPostgresStale(error)) throw postgresFault(error)
        }
      }
    })
  }

  tx<T>(work: (tx: Tx) => Promise<T>, options: TxOptions = {}): Promise<T> {
    return this.#track(() => this.#untilThrough(work, options))
  }

  async #untilThrough<T>(work: (tx: Tx) => Promise<T>, options: TxOptions): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work, options)
      } catch (error) {
        if (!isPostgresRace(error) && !isPostgresStale(error)) throw error
        if (attempt === attempts) throw postgresFault(error)
        this.#observer?.retried()
      }
      await pause(randomInt(2 ** attempt))
    }
  }

  /** A connection is silent, or has prepared statements that the schema has outlived: so are the others that are there. */
  #noteUseless(error: unknown): void {
    if (isPostgresSilence(error) || isPostgresStale(error)) this.#uselessAt = performance.now()
  }

  /** After one connection proved useless, the others that were there are not asked any more: each would cost a time-out. */
  async #connect(): Promise<PoolClient> {
    try {
      for (;;) {
        const client = await this.#pool.connect()
        if ((this.#born.get(client) ?? 0) >= this.#uselessAt) return client
        client.release(true)
      }
    } catch (error) {
      throw postgresFault(error)
    }
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>, { unhurried = false, ran }: TxOptions): Promise<T> {
    const asked = performance.now()
    const client = await this.#connect()
    const waitedMs = performance.now() - asked
    ran?.(1, waitedMs)
    const tx = new PostgresTx(client, this.#statements, { unhurried })
    let broken = false
    try {
      const value = await work(tx)
      tx.throwFailure()
      this.#observer?.committed(1, waitedMs)
      if (tx.committed) return value
      // Work without a statement asks all the same whether the server would commit something.
      tx.begin()
      tx.end()
      await commit(client, tx)
      return value
    } catch (error) {
      tx.end()
      await client.query('ROLLBACK').catch(() => {
        broken = true
      })
      this.#noteUseless(tx.failure ?? error)
      throw isPostgresRace(tx.failure) || isPostgresStale(tx.failure) ? tx.failure : error
    } finally {
      client.release(broken)
    }
  }

  snapshot<T>(look: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#track(async () => {
      const client = await this.#connect()
      try {
        await client.query(
          'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
        )
        return await look(new PostgresTx(client, this.#statements, { unhurried: true, begun: true }))
      } finally {
        // Not used again: whatever went wrong ends with it.
        client.release(true)
      }
    })
  }

  async listen(wake: Wake): Promise<() => Promise<void>> {
    const stop = await this.#notices.add(wake)
    return async () => stop()
  }

  announce(channels: readonly string[]): void {
    this.#notices.announce(channels)
  }

  observe(observer: DbObserver): void {
    this.#observer = observer
    this.#notices.reconnected = () => observer.reconnected()
  }

  figures(): DbFigures {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { queued: waitingCount, connections: totalCount, connectionsIdle: idleCount }
  }

  /** The server looks after its files. */
  async check(): Promise<void> {}

  /** Refuses new work, finishes running units, sends the last announcements, ends every connection. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#notices.close()
    await this.#pool.end()
  }

  /** The pool would forget those who wait for a connection when it ends. */
  #track<T>(start: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(shuttingDown())
    const running = start()
    this.#running.add(running)
    const done = () => this.#running.delete(running)
    running.then(done, done)
    return running
  }
}
