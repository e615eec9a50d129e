/** A database that one test has after the other: what a test is lent closes with the test, and the connections behind it stay. */
import { shuttingDown } from '../../src/db/faults.ts'
import type { Db, DbObserver } from '../../src/db/port.ts'

const nobody: DbObserver = { committed() {}, retried() {}, reconnected() {} }

/** Closes as a database does: it finishes what runs, refuses what is new, and wakes nobody any more. `closed` is called after that. */
export function lendDb(db: Db, closed: () => void): Db {
  const running = new Set<Promise<unknown>>()
  const stops: (() => Promise<void>)[] = []
  let closing: Promise<void> | undefined

  function track<T>(start: () => Promise<T>): Promise<T> {
    if (closing !== undefined) return Promise.reject(shuttingDown())
    const work = start()
    running.add(work)
    const done = () => running.delete(work)
    work.then(done, done)
    return work
  }

  async function close(): Promise<void> {
    await Promise.allSettled(running)
    for (const stop of stops) await stop()
    db.observe?.(nobody)
    closed()
  }

  const all: Db['all'] = (query) => track(() => db.all(query))
  return {
    dialect: db.dialect,
    all,
    long: { dialect: db.dialect, all },
    tx: (work, options) => track(() => db.tx(work, options)),
    snapshot: (look) => track(() => db.snapshot(look)),
    listen: (wake) =>
      track(async () => {
        const stop = await db.listen(wake)
        stops.push(stop)
        return stop
      }),
    announce(channels) {
      if (closing === undefined) db.announce(channels)
    },
    observe: (observer) => db.observe?.(observer),
    figures: () => db.figures?.() ?? {},
    check: () => db.check(),
    close: () => (closing ??= close()),
  }
}
