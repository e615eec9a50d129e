/** Opening a SQLite file for a look at it: as SQLite itself sees it, and nothing is made beside it. */
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isSqliteCode } from '../faults.ts'

/** How long a look waits for a process that recovers or closes the file. */
const usualTimeoutMs = 5_000

/** A journal is to be rolled back, which a read-only connection may not do (https://www.sqlite.org/rescode.html). */
const readonlyRollback = 776

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * A process that dies inside of a checkpoint leaves a file that is whole only together with its log: the header may tell of
 * more pages than there are, or be half a page. The log is read along wherever there is one. Without one, a read-only
 * connection would leave a -wal and a -shm file behind; an immutable one leaves nothing.
 */
export function openLooking(file: string, timeout = usualTimeoutMs): DatabaseSync {
  return hasLog(file)
    ? new DatabaseSync(file, { readOnly: true, timeout })
    : new DatabaseSync(immutable(file), { readOnly: true })
}

/** Returns the result of `work`, which may run more than once. */
export function lookAt<T>(file: string, work: (db: DatabaseSync) => T, timeout = usualTimeoutMs): T {
  const logged = hasLog(file)
  try {
    return closing(openLooking(file, timeout), work)
  } catch (error) {
    // A program died in a transaction: whoever opens the file next rolls that back, and nothing that was committed goes.
    if (isSqliteCode(error, readonlyRollback)) return closing(new DatabaseSync(file, { timeout }), work)
    // Another process has begun to write after the log was looked for.
    if (!logged && hasLog(file)) return closing(openLooking(file, timeout), work)
    throw error
  }
}

function closing<T>(db: DatabaseSync, work: (db: DatabaseSync) => T): T {
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const hasLog = (file: string): boolean => existsSync(`${file}-wal`) || sizeOf(`${file}-journal`) > 0

function immutable(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}
