/** A query that calls functions of a module: SQLite has too few of its own, and rows that cross threads cost as much as reading them. */
import { Sql } from 'sql-template-tag'

/** The exports of such a module. */
export type Functions = Readonly<Record<string, (...values: never[]) => string | number>>

export class CallingSql extends Sql {
  /** Where the module is. Its exports are called by their names, in the thread of long reads and nowhere else. */
  readonly module: string

  constructor(query: Sql, module: URL) {
    super(query.strings, query.values)
    this.module = module.href
  }
}
