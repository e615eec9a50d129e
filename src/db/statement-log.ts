/** A database whose statements are logged, for somebody who looks for a fault: their text, and never a value. */
import type { Sql } from 'sql-template-tag'
import type { Log } from '../base/log.ts'
import { type Db, type Reader, readingBy, type Tx } from './port.ts'

/** At level debug. Where that is not logged, the database itself is returned, and nothing is slower. */
export function echoing(db: Db, log: Log): Db {
  if (!log.isLevelEnabled('debug')) return db
  const echo = (query: Sql): Sql => {
    // The text has a place for each value; the values stay in the query.
    log.debug({ sql: query.text.replace(/\s+/g, ' ').trim() }, 'statement')
    return query
  }
  const reading = (on: Reader): Reader => readingBy(db, (query) => on.all(echo(query)))
  const writing = (tx: Tx): Tx => ({
    ...reading(tx),
    insert: (query) => tx.insert(echo(query)),
    change: (query) => tx.change(echo(query)),
    enqueue: (query) => tx.enqueue(echo(query)),
    get autocommit() {
      const { autocommit } = tx
      return autocommit && (<Row>(query: Sql) => autocommit<Row>(echo(query)))
    },
  })
  return {
    ...reading(db),
    long: reading(db.long),
    snapshot: (look) => db.snapshot((reader) => look(reading(reader))),
    observe: (observer) => db.observe?.(observer),
    figures: () => db.figures?.() ?? {},
    check: () => db.check(),
    tx: (work, options) => db.tx((tx) => work(writing(tx)), options),
    listen: (wake) => db.listen(wake),
    announce: (channels) => db.announce(channels),
    close: () => db.close(),
  }
}
