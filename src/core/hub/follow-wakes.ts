/** Wakes the waiters of this process when another process has committed something for them. */
import { findLastChange, listWakesAfter } from '../../store/changes.ts'
import type { HubParts } from './hub.ts'
import { feedChannel, type Wakes } from './wakes.ts'

const page = 1000

/**
 * PostgreSQL brings the channels with the wake-up; without channels it has just reconnected and everybody asks again.
 * SQLite only tells that the file has changed: the feed says what.
 */
export async function followWakes(
  { db, log }: Pick<HubParts, 'db' | 'log'>,
  wakes: Wakes,
): Promise<() => Promise<void>> {
  if (db.dialect === 'postgres')
    return db.listen((channels) => {
      log.trace({ channels }, 'another process has committed')
      if (channels === undefined) wakes.wakeAll()
      else wakes.wake(channels)
    })

  let last = await findLastChange(db)
  let looking: Promise<void> | undefined
  let again = false

  async function look(): Promise<void> {
    do {
      again = false
      // What this process wrote itself is in the feed too. Where much has gathered, waking everybody costs less than reading.
      const newest = await findLastChange(db)
      const rows = newest - last > page ? [] : await listWakesAfter(db, last, page)
      // Ids have no holes but where changes were pruned: this process slept for longer than they are kept.
      if (newest > last && rows[0]?.id !== last + 1) wakes.wakeAll()
      else for (const { wakes: channels } of rows) wakes.wake(channels === '' ? [feedChannel] : channels.split(' '))
      last = Math.max(last, newest)
    } while (again)
  }

  const unlisten = await db.listen(() => {
    // Whoever comes to wait asks for itself first. Of eight processes that only write, none reads what the others wrote.
    if (wakes.idle) return
    log.trace('another process has committed')
    again = true
    looking ??= look()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the feed of changes could not be read; those who wait ask again')
        wakes.wakeAll()
      })
      .finally(() => {
        looking = undefined
      })
  })
  return async () => {
    await unlisten()
    await looking
  }
}
