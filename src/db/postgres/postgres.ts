/** The database port on PostgreSQL: a pool for the work, and one connection for the wake-ups. */
import { randomInt } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Sql } from 'sql-template-tag'
import { pause } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { standbyMark } from '../dialect.ts'
import {
  isPassing,
  isPostgresLost,
  isPostgresRace,
  isPostgresReadOnly,
  isPostgresSilence,
  isPostgresStale,
  isUnsure,
  postgresFault,
  shuttingDown,
  Unsure,
} from '../faults.ts'
import type { Db, DbFigures, DbObserver, Reader, RetryKind, Tx, TxOptions, Wake } from '../port.ts'
import { commit } from './commit.ts'
import { PostgresNotices } from './notices.ts'
import { createPool } from './pool.ts'
import { Servers } from './servers.ts'
import { clientSettings, connectionError, limitsOfTransaction, needLimits } from './settings.ts'
import { PostgresStatements } from './statements.ts'
import { PostgresTx } from './tx.ts'

/** How often a unit runs that keeps losing against others (deadlock, serialisation failure). */
const attempts = 8

export async function openPostgres(
  url: string,
  { connections = 10, pooled = false, listenUrl }: PostgresOptions = {},
): Promise<Db> {
  const servers = new Servers(url, (one) => clientSettings(one, { pooled }))
  const listening = listenUrl === undefined ? servers : new Servers(listenUrl, clientSettings)
  const pool = createPool(servers, { connections, pooled })
  try {
    await servers.find()
    const { rows } = await pool.query<{ schema: number; timeout: string }>(
      "SELECT current_schema()::regnamespace::oid AS schema, current_setting('statement_timeout') AS timeout",
    )
    const [{ schema, timeout } = { schema: 0, timeout: '' }] = rows
    if (!pooled) needLimits(url, timeout)
    return new PostgresDb({ pool, servers, notices: new PostgresNotices(listening, `parley_${schema}`), pooled })
  } catch (error) {
    await pool.end()
    throw error instanceof HubError ? error : connectionError(servers.chosen, error)
  }
}

export interface PostgresOptions {
  readonly connections?: number | undefined
  /** Behind a pooler that gives each transaction another connection: nothing of a session lasts from one to the next. */
  readonly pooled?: boolean
  /** Past the pooler: a connection that listens is a session. */
  readonly listenUrl?: string | undefined
}

interface Parts {
  readonly pool: Pool
  readonly servers: Servers
  readonly notices: PostgresNotices
  readonly pooled: boolean
}

class PostgresDb implements Db {
  readonly dialect = 'postgres'
  /** Every query waits for another process here. */
  readonly long = this
  readonly #pool: Pool
  readonly #servers: Servers
  readonly #notices: PostgresNotices
  readonly #statements: PostgresStatements
  readonly #limits: string
  readonly #running = new Set<Promise<unknown>>()
  readonly #born = new WeakMap<PoolClient, number>()
  /** When a connection was last found to be silent or outlived, by the process's own clock. */
  #uselessAt = 0
  #closing: Promise<void> | undefined
  #observer: DbObserver | undefined

  constructor({ pool, servers, notices, pooled }: Parts) {
    this.#pool = pool
    this.#servers = servers
    this.#notices = notices
    this.#statements = new PostgresStatements(pooled ? 0 : undefined)
    this.#limits = pooled ? limitsOfTransaction : ''
    pool.on('connect', (client) => this.#born.set(client, performance.now()))
  }

  all<Row>(query: Sql): Promise<Row[]> {
    return this.#track(async () => {
      for (const until = this.#limit(); ; ) {
        const client = await this.#connect(until)
        try {
          const { rows } = await client.query(this.#statements.bind(query))
          client.release()
          return rows
        } catch (error) {
          client.release(true)
          this.#noteUseless(error)
          const again = isPostgresStale(error) || (this.#hasMoved(error) && performance.now() < until)
          if (!again) throw postgresFault(error)
        }
      }
    })
  }

  tx<T>(work: (tx: Tx) => Promise<T>, options: TxOptions = {}): Promise<T> {
    return this.#track(() => this.#untilThrough(work, options))
  }

  /** Runs work until it came to an end. What ends without a commit may run again; after a commit without an answer only what does nothing twice. */
  async #untilThrough<T>(work: (tx: Tx) => Promise<T>, options: TxOptions): Promise<T> {
    const until = this.#limit()
    let unsure: unknown
    for (let attempt = 1; ; attempt++) {
      try {
        const value = await this.#attempt(work, until, options)
        // It may have found what the first attempt saved, and written nothing.
        const mark = unsure === undefined ? undefined : standbyMark(this)
        if (mark !== undefined) await this.#attempt((tx) => tx.all(mark), until)
        return value
      } catch (error) {
        if (options.idempotent && isUnsure(error)) unsure ??= error
        // That the database is away now does not say that the first attempt did nothing.
        else if (unsure !== undefined && isPassing(error)) throw unsure
        else if (!this.#hasMoved(error) && !isPostgresRace(error) && !isPostgresStale(error)) throw error
        const again = this.#hasMoved(error) ? performance.now() < until : attempt < attempts
        if (!again) throw unsure ?? postgresFault(error)
        this.#observer?.retried(this.#kindOf(error))
      }
      await pause(randomInt(2 ** Math.min(attempt, attempts)))
    }
  }

  /** Work goes on at another server until then: as long as a connection may take. */
  #limit(): number {
    return performance.now() + (this.#servers.chosen.connectionTimeoutMillis ?? 0)
  }

  #kindOf(error: unknown): RetryKind {
    if (isUnsure(error)) return 'unsure'
    if (this.#hasMoved(error)) return 'moved'
    return isPostgresStale(error) ? 'stale' : 'race'
  }

  /** Nothing is saved, and another server may take over. */
  #hasMoved(error: unknown): boolean {
    return this.#servers.change && (isPostgresLost(error) || isPostgresReadOnly(error))
  }

  /** A connection is silent, or has prepared statements that the schema has outlived: so are the others that are there. */
  #noteUseless(error: unknown): void {
    if (isPostgresSilence(error) || isPostgresStale(error) || isPostgresReadOnly(error))
      this.#uselessAt = performance.now()
    const cause = error instanceof HubError ? error.cause : error
    if (this.#hasMoved(cause)) this.#servers.forget()
  }

  /** After one connection proved useless, the others that were there are not asked any more: each would cost a time-out. */
  async #connect(until = this.#limit()): Promise<PoolClient> {
    for (; ; await pause(randomInt(20))) {
      try {
        await this.#servers.find(until)
        for (;;) {
          const client = await this.#pool.connect()
          if ((this.#born.get(client) ?? 0) >= this.#uselessAt) return client
          client.release(true)
        }
      } catch (error) {
        if (!this.#hasMoved(error) || performance.now() > until) throw postgresFault(error)
        this.#servers.forget()
      }
    }
  }

  async #attempt<T>(
    work: (tx: Tx) => Promise<T>,
    until: number,
    { unhurried = false, ran }: TxOptions = {},
  ): Promise<T> {
    const asked = performance.now()
    const client = await this.#connect(until)
    const waitedMs = performance.now() - asked
    ran?.(1, waitedMs)
    const tx = new PostgresTx(client, this.#statements, { unhurried, limits: this.#limits })
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
      const known = error instanceof Unsure ? undefined : tx.failure
      throw isPostgresRace(known) || isPostgresStale(known) || this.#hasMoved(known) ? known : error
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
