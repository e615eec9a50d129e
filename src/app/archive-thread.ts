/** The thread that archives: a hub of its own on the same database, which only follows the feed. */
import { parentPort, workerData } from 'node:worker_threads'
import { Archive, lostRepositories } from '../archive/archive.ts'
import { gitVersion } from '../archive/git.ts'
import { stayAlive, systemClock } from '../base/clock.ts'
import { giveBackAtRest } from '../base/heap.ts'
import { type LogLine, relayLog } from '../base/log.ts'
import { stepBack } from '../base/processes.ts'
import { keepArchive } from '../core/archive/keeping.ts'
import { wakeFollowers } from '../core/hub/hub.ts'
import type { Config } from '../settings/all.ts'
import { archiveFolder, authorOf } from './archive-place.ts'
import { openDatabase, openOn } from './open.ts'

const config = workerData as Config
const log = relayLog(config.LOG_LEVEL, (line: LogLine) => parentPort?.postMessage(line))

stepBack()
giveBackAtRest(systemClock)
if ((await gitVersion()) !== undefined) await archive()
else
  log.warn(
    'git was not found: mail works, but nothing is archived. Install git and start Parley again, or set ARCHIVE_ENABLED=false.',
  )

async function archive(): Promise<void> {
  const rest = stayAlive()
  const hub = await openOn(await openDatabase(config), config, log)
  const folder = archiveFolder(config)
  const kept = new Archive(folder, { author: authorOf(config), newId: hub.ids.short() })
  if (lostRepositories(folder).length > 0) kept.setPlace(undefined)
  const stop = keepArchive(hub, kept)
  parentPort?.on('message', (word: 'look' | 'stop') => {
    if (word === 'look') return wakeFollowers(hub)
    void stop()
      .finally(() => hub.close())
      .catch((error: unknown) => log.error({ err: error }, 'the archive could not be stopped in good order'))
      .finally(rest)
      // An open port keeps this thread alive, and the server waits for its end.
      .finally(() => parentPort?.close())
  })
}
