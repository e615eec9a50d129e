/** A SQLite file for one look at it: nothing is prepared, made or changed. */
import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Reader } from '../port.ts'

/** Somebody waits for it: better no answer than a late one. */
const timeout = 1000

/** Throws if there is no such file. */
export function openReadOnly(file: string): Reader & { close(): void } {
  const db = new DatabaseSync(existsSync(`${file}-wal`) ? file : atRest(file), { readOnly: true, timeout })
  return {
    dialect: 'sqlite',
    all: async <Row>({ sql, values }: { sql: string; values: unknown[] }) =>
      db.prepare(sql).all(...(values as SQLInputValue[])) as Row[],
    close: () => db.close(),
  }
}

/** A file without a WAL is open nowhere: read like this, SQLite makes none, which it could not remove again. */
function atRest(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}
