/** Whether any other process has a SQLite file open. */
import { DatabaseSync } from 'node:sqlite'
import { isSqliteBusy } from '../faults.ts'

/** Every connection to a file in WAL mode holds a shared lock on it as long as it is open: with that, nobody is alone. */
export function isOpenElsewhere(file: string): boolean {
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
    return false
  } catch (error) {
    if (isSqliteBusy(error)) return true
    throw error
  } finally {
    db.close()
  }
}
