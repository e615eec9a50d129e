/** A database whose statements are logged, for somebody who looks for a fault: their text, and never a value. */
import type { Sql } from 'sql-template-tag'
import type { Log } from '../base/log.ts'
import type { Db, Reader } from './port.ts'

/** At level debug. Where that is not logged, the database itself is returned, and nothing is slower. */
export function echoing(db: Db, log: Log): Db {
  if (!log.isLevelEnabled('debug')) return db
  const all = <Row>(on: Reader, query: Sql): Promise<Row[]> => {
    // The text has a place for each value; the values stay in the query.
    log.debug({ sql: query.text.replace(/\s+/g, ' ').trim() }, 'statement')
    return on.all<Row>(query)
  }
  const { dialect } = db
  return {
    dialect,
    all: (query) => all(db, query),
    tx: (work) => db.tx((tx) => work({ dialect, writes: true, all: (query) => all(tx, query) })),
    snapshot: (look) => db.snapshot((reader) => look({ dialect, all: (query) => all(reader, query) })),
    check: () => db.check(),
    listen: (wake) => db.listen(wake),
    announce: (channels) => db.announce(channels),
    close: () => db.close(),
  }
}
