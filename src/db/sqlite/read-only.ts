/** A SQLite file for one look at it: nothing is prepared, made or changed. */
import type { SQLInputValue } from 'node:sqlite'
import type { Reader } from '../port.ts'
import { openLooking } from './open-untouched.ts'

/** Somebody waits for it: better no answer than a late one. */
const timeoutMs = 1000

/** Throws if there is no such file. */
export function openReadOnly(file: string): Reader & { close(): void } {
  const db = openLooking(file, timeoutMs)
  return {
    dialect: 'sqlite',
    all: async <Row>({ sql, values }: { sql: string; values: unknown[] }) =>
      db.prepare(sql).all(...(values as SQLInputValue[])) as Row[],
    close: () => db.close(),
  }
}
