/** Wakes the waiters of this process when another process has committed something for them. */
import { can } from '../../db/dialect.ts'
import { findLastChange, listWakesAfter } from '../../store/feed/changes.ts'
import type { HubParts } from './hub.ts'
import { feedChannel, type Wakes } from './wakes.ts'

const page = 1000

/**
 * PostgreSQL brings the channels with the wake-up; without channels it has just reconnected and everybody asks again.
 * SQLite only tells that the file has changed: the feed says what. Returns how to end it.
 */
export async function followWakes(
  { db, log }: Pick<HubParts, 'db' | 'log'>,
  wakes: Wakes,
): Promise<() => Promise<void>> {
  if (can(db).namedWakes) {
    return db.listen((channels) => {
      log.trace({ channels }, 'another process has committed')
      if (channels === undefined) wakes.wakeAll()
      else wakes.wake(channels)
    })
  }

  /** The newest change that was there when listening began, or that was told of since. */
  let last = Promise.resolve(0)
  let stop: (() => Promise<void>) | undefined
  let looking: Promise<void> | undefined
  let again = false

  /** Both steps take effect at once: what is committed after this is told of, and what was before, a waiter asks for itself. */
  function begin(): void {
    if (stop !== undefined) return
    const listening = db.listen(heard)
    stop = () => listening.then((unlisten) => unlisten())
    // A database that is closed tells nobody anything: those who wait find out by asking.
    listening.catch(() => {})
    startHere()
  }

  function startHere(): void {
    last = findLastChange(db)
    last.catch(() => {})
  }

  /** Never rejects: a database that cannot be told to be silent is none that says anything. */
  async function end(): Promise<void> {
    const ending = stop?.()
    stop = undefined
    await ending?.catch(() => {})
  }

  async function look(): Promise<void> {
    do {
      again = false
      const from = await last
      // The feed also has this process's own changes. Where much has gathered, waking everybody costs less than reading.
      const newest = await findLastChange(db)
      const rows = newest - from > page ? [] : await listWakesAfter(db, from, page)
      // Ids have no holes but where changes were pruned: this process slept for longer than they are kept.
      if (newest > from && rows[0]?.id !== from + 1) wakes.wakeAll()
      else for (const { wakes: channels } of rows) wakes.wake(channels === '' ? [feedChannel] : channels.split(' '))
      last = Promise.resolve(Math.max(from, newest))
    } while (again)
  }

  function heard(): void {
    // Of eight processes that only write, none hears of what the others wrote: each would look after every commit of all.
    if (wakes.idle) return void end()
    log.trace('another process has committed')
    again = true
    looking ??= look()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the feed of changes could not be read; waiting calls ask again')
        startHere()
        wakes.wakeAll()
      })
      .finally(() => {
        looking = undefined
      })
  }

  wakes.beforeListening(begin)
  return async () => {
    wakes.beforeListening(() => {})
    await end()
    await looking
  }
}
