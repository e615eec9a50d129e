/** The port to a database: SQL in, rows out, work in transactions, wake-ups when somebody else has committed. */
import type { Sql } from 'sql-template-tag'

export type Dialect = 'sqlite' | 'postgres'

export interface Reader {
  readonly dialect: Dialect
  all<Row>(query: Sql): Promise<Row[]>
}

/** The same database, read by another function. */
export const readingBy = ({ dialect }: Reader, all: Reader['all']): Reader => ({ dialect, all })

/** Several reads that end in one answer, as a module exports it under the name `look`. */
export type Look<Wish = never, Answer = unknown> = (db: Reader, wish: Wish) => Promise<Answer>

export interface LongReader extends Reader {
  /**
   * Runs the `look` of a module in the thread of long reads. All that it reads is of one moment, and its answer alone crosses:
   * many rows cost as much to send as to read. Absent where there is no such thread.
   */
  readonly look?: <Answer>(module: URL, wish: unknown) => Promise<Answer>
}

/** Told after another process may have committed: the channels it announced, or undefined when only the fact is known. */
export type Wake = (channels: readonly string[] | undefined) => void

/** One unit of work. It awaits nothing but its own statements: others wait behind it. */
export interface Tx extends Reader {
  /** Runs an INSERT of one row and returns the id it got. On SQLite a RETURNING instead copies every page it touches. */
  insert(query: Sql): Promise<number>
  /** Runs a statement that brings no rows and returns how many it has written. */
  change(query: Sql): Promise<number>
  /**
   * Runs a statement that brings nothing back, and does not wait for it: if it fails, so does the unit. On PostgreSQL it goes
   * out with the next one or with the COMMIT, and costs no round trip.
   */
  enqueue(query: Sql): void
  /**
   * Runs a statement that is the whole unit, and resolves once it is committed: on PostgreSQL one round trip instead of two.
   * Absent where something ran before it, or others share the transaction, as they do on SQLite.
   */
  readonly autocommit?: (<Row>(query: Sql) => Promise<Row[]>) | undefined
}

/** For units that cannot be anything else. */
export function autocommit<Row>({ autocommit }: Tx, query: Sql): Promise<Row[]> {
  if (autocommit === undefined) throw new Error('A statement that is a whole unit needs a transaction of its own.')
  return autocommit<Row>(query)
}

export interface TxOptions {
  /** A statement may take minutes: that of a migration, where it fills an index. Otherwise one that takes seconds fails. */
  readonly unhurried?: boolean
  /**
   * The work is done again if the power goes, because its watermark goes with it: on SQLite it does not wait for the disk.
   * The next work that waits for the disk flushes it too.
   */
  readonly repeatable?: boolean
  /** The work does nothing twice: it runs again where the database was lost during its commit, and nobody knows whether it is saved. */
  readonly idempotent?: boolean
  /** Told when the unit has run: how many shared its commit, itself among them, and how long it waited for the writer or a connection. */
  readonly ran?: ((units: number, waitedMs: number) => void) | undefined
}

/** It lost against others; another server takes writes; nobody knew whether it was saved; the schema has outlived a prepared statement. */
export type RetryKind = 'race' | 'moved' | 'unsure' | 'stale'

/** Told of what happens in a database, for metrics. Each is called once a commit or less. */
export interface DbObserver {
  /** Units that shared a commit, and how long the first of them waited for the writer or a connection. */
  committed(units: number, waitedMs: number): void
  /** Work ran again, and why. */
  retried(kind: RetryKind): void
  /** The connection for wake-ups was lost, and is there again. */
  reconnected(): void
}

/** Figures of this moment, by the names of their metrics; those that the engine has. */
export type DbFigures = Partial<
  Record<'queued' | 'connections' | 'connectionsIdle' | 'fileBytes' | 'walBytes' | 'freeBytes', number>
>

export interface Db extends Reader {
  observe?(observer: DbObserver): void
  figures?(): DbFigures
  /** For reads that may take milliseconds: they hold up nobody else. */
  readonly long: LongReader
  /**
   * Runs `work` in a write transaction and resolves when it is on the disk. On SQLite, work that is asked for while other work ends is
   * committed with it, and sees what it has written. Work may run more than once (deadlock, lost race),
   * so it has no effects but its statements. An error thrown by `work` rolls back that work alone. After a statement
   * failed, the unit fails too, even if `work` catches the error: use ON CONFLICT where a conflict is expected.
   */
  tx<T>(work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T>
  /** Everything that `look` reads is of one moment, however long it takes, and nobody has to wait for it. */
  snapshot<T>(look: (reader: Reader) => Promise<T>): Promise<T>
  /**
   * Calls `wake` until the returned function is called. A wake-up may be lost or false, and must not throw. Resolves once
   * listening.
   */
  listen(wake: Wake): Promise<() => Promise<void>>
  /** Tells other processes of a commit, where the engine cannot do so itself (PostgreSQL). Never waits. */
  announce(channels: readonly string[]): void
  /** Rejects with a fault while what is written would not last, or finds no room. Looks at the file, not into it. */
  check(): Promise<void>
  close(): Promise<void>
}
