/** Looking after a database: each engine checks it, gives room back, and tells how large it is. */

export interface TableSize {
  readonly name: string
  readonly rows: number
  /** With its indexes; undefined where the engine does not tell. */
  readonly bytes: number | undefined
}

export interface DatabaseStats {
  readonly engine: string
  /** Of the database; on SQLite of its file and its log. */
  readonly bytes: number
  /** Room in it that is not used. */
  readonly freeBytes: number
  readonly tables: readonly TableSize[]
}

/** Told how many of how many tables are done. */
export type TableProgress = (done: number, total: number) => void

export interface DatabaseCare {
  /** A sentence for each fault; reads everything, and changes nothing. */
  check(progress: TableProgress): Promise<string[]>
  /** Rewrites the tables without their gaps. */
  vacuum(progress: TableProgress): Promise<void>
  stats(): Promise<DatabaseStats>
  close(): Promise<void>
}
