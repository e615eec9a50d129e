/** The database port on one SQLite file: a writing and a reading connection, and a look-out for other processes. */
import type { Sql } from 'sql-template-tag'
import { HubError } from '../../base/errors.ts'
import { shuttingDown, sqliteFault } from '../faults.ts'
import type { Db, DbFigures, DbObserver, Reader, Tx, TxOptions, Wake } from '../port.ts'
import { AcknowledgedNumber } from './acknowledged.ts'
import { SqliteBell } from './bell.ts'
import { defaultPatienceMs, whileBusy } from './busy.ts'
import { Checkpoints } from './checkpoints.ts'
import { openReading, prepareWriting, SqliteConnection } from './connection.ts'
import { type Flush, SqliteDisk } from './disk.ts'
import { LongReads } from './long-reads.ts'
import { applicationId, refuseForeign } from './owner.ts'
import { type FreeBytes, SqlitePlace } from './place.ts'
import { SqliteWatch } from './watch.ts'
import { SqliteWriter } from './writer.ts'

interface SqliteOptions {
  /** How long to wait for other processes that hold the file, in milliseconds, before DB_BUSY. */
  patienceMs?: number
  /** The room left in a folder, if not by asking the system. */
  freeBytes?: FreeBytes
  /** How a commit gets to the disk, if not by the system. */
  flush?: Flush
  /** Finds the number of the last change, as `id`: it is kept beside the file once the change is on the disk. */
  lastChange?: Sql | undefined
}

export async function openSqlite(
  file: string,
  { patienceMs = defaultPatienceMs, freeBytes, flush, lastChange }: SqliteOptions = {},
): Promise<SqliteDb> {
  refuseForeign(file)
  const writing = new SqliteConnection(file, { timeout: 0 })
  try {
    await whileBusy(() => prepareFile(writing, file), patienceMs)
    const reading = await whileBusy(() => openReading(file), patienceMs)
    const place = new SqlitePlace(file, freeBytes)
    const disk = new SqliteDisk(file, flush)
    const acknowledged = lastChange && new AcknowledgedNumber(file, writing, lastChange)
    return new SqliteDb({ file, writing, reading, patienceMs, place, disk, acknowledged })
  } catch (error) {
    writing.close()
    throw error
  }
}

/** Many processes may start at once; each step may be repeated. */
function prepareFile(connection: SqliteConnection, file: string): void {
  if (connection.pragma('application_id') !== applicationId) connection.pragma(`application_id = ${applicationId}`)
  const mode = connection.pragma('journal_mode = WAL')
  if (mode !== 'wal') {
    throw new HubError('INVALID_ARGUMENT', `${file} is on a file system that cannot hold SQLite's write-ahead log.`, {
      hint: 'Put it on a local disk: set STORAGE_ROOT or DATABASE_URL.',
    })
  }
  prepareWriting(connection)
  // Makes the log, which disk.ts wants to have open.
  connection.pragma('schema_version')
}

interface Parts {
  readonly file: string
  readonly writing: SqliteConnection
  readonly reading: SqliteConnection
  readonly patienceMs: number
  readonly place: SqlitePlace
  readonly disk: SqliteDisk
  readonly acknowledged: AcknowledgedNumber | undefined
}

export class SqliteDb implements Db {
  readonly dialect = 'sqlite'
  readonly #reading: SqliteConnection
  readonly #writer: SqliteWriter
  readonly long: LongReads
  readonly #bell: SqliteBell
  readonly #watch: SqliteWatch
  readonly #place: SqlitePlace
  readonly #disk: SqliteDisk
  readonly #acknowledged: AcknowledgedNumber | undefined
  readonly #file: string
  #closing: Promise<void> | undefined

  constructor({ file, writing, reading, patienceMs, place, disk, acknowledged }: Parts) {
    this.#reading = reading
    this.long = new LongReads(file)
    this.#bell = new SqliteBell(file)
    const checkpoints = new Checkpoints({ file, writing, thread: this.long })
    let last = 0
    const committing = () => {
      last = acknowledged?.last() ?? 0
    }
    const flush = () => {
      disk.flush()
      place.checkFile()
      acknowledged?.write(last)
    }
    const committed = (units: number) => {
      this.#bell.ring()
      checkpoints.noteCommit(units)
    }
    this.#writer = new SqliteWriter(writing, {
      patienceMs,
      beginning: () => disk.check(),
      committing,
      flush,
      committed,
    })
    this.#watch = new SqliteWatch(this.#bell, writing)
    this.#place = place
    this.#disk = disk
    this.#acknowledged = acknowledged
    this.#file = file
  }

  get stats(): SqliteWriter['stats'] {
    return this.#writer.stats
  }

  async all<Row>(query: Sql): Promise<Row[]> {
    if (this.#closing !== undefined) throw shuttingDown()
    try {
      return this.#reading.all(query) as Row[]
    } catch (error) {
      throw sqliteFault(error)
    }
  }

  tx<T>(work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#writer.tx(work, options)
  }

  /** A connection of its own: in WAL mode it sees the file as of its first read, and holds up no writer. */
  async snapshot<T>(look: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw shuttingDown()
    const connection = openReading(this.#file)
    try {
      connection.prepare('BEGIN').run()
      connection.pragma('schema_version')
      return await look({
        dialect: 'sqlite',
        async all<Row>(query: Sql) {
          try {
            return connection.all(query) as Row[]
          } catch (error) {
            throw sqliteFault(error)
          }
        },
      })
    } finally {
      connection.close()
    }
  }

  async listen(wake: Wake): Promise<() => Promise<void>> {
    if (this.#closing !== undefined) throw shuttingDown()
    const stop = this.#watch.add(wake)
    return async () => stop()
  }

  /** Others see a commit in the file itself. */
  announce(): void {}

  observe(observer: DbObserver): void {
    this.#writer.observer = observer
  }

  figures(): DbFigures {
    return { queued: this.#writer.queued, ...this.#place.sizes() }
  }

  async check(): Promise<void> {
    this.#disk.check()
    await this.#place.check()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** The last connection to the file moves the WAL into it and removes it. */
  async #close(): Promise<void> {
    this.#watch.close()
    this.#reading.close()
    await this.#writer.close(async () => {
      await this.long.close()
      this.#disk.close()
    })
    this.#acknowledged?.close()
    this.#bell.close()
  }
}
