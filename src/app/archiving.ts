/** The archive of a server: a thread of its own, so that no request waits for it. */

import { Worker } from 'node:worker_threads'
import { findTrouble } from '../archive/archive.ts'
import { pause, systemClock } from '../base/clock.ts'
import { smallWorkerLimits } from '../base/heap.ts'
import type { LogLine } from '../base/log.ts'
import { moduleBeside } from '../base/modules.ts'
import type { Hub } from '../core/hub/hub.ts'
import { keepLooking } from '../core/hub/keep-looking.ts'
import type { Config } from '../settings/all.ts'
import { archiveFolder } from './archive-place.ts'

/** A thread that fails is started anew after this, and later each time. */
const [againMs, longestMs] = [10_000, 600_000]

/** The archive catches up at the next start. */
const stopMs = 2500

/** Wakes are passed on to the thread: on PostgreSQL most changes are announced to nobody; on SQLite it sees every commit in the file. */
const gatherMs = 100

const program = moduleBeside(import.meta.url, 'archive-thread')

export interface Archiving {
  /** Sentences for people about an archive that is not whole; mail works without it. */
  trouble(): readonly string[]
  stop(): Promise<void>
}

export function startArchiving(hub: Hub, config: Config): Archiving {
  const { log } = hub
  let stopped = false
  let failures = 0
  let cancel = () => {}
  let thread: Worker
  let running: Promise<void> = Promise.resolve()

  function start(): void {
    thread = new Worker(program, { workerData: config, execArgv: [], resourceLimits: smallWorkerLimits })
    const ended = Promise.withResolvers<void>()
    thread
      .on('message', ({ level, fields, message }: LogLine) => log[level](fields, message))
      .on('error', (error) => log.error({ err: error }, 'the archive stopped; it is started again'))
      .once('exit', (code) => {
        ended.resolve()
        if (code !== 0 && !stopped) cancel = systemClock.after(Math.min(longestMs, againMs * 2 ** failures++), start)
      })
    // The server lives as long as it serves, not as long as this thread.
    thread.unref()
    running = ended.promise
  }

  start()
  const passing = keepLooking(hub, {
    channels: '',
    gatherMs,
    backOff: { firstMs: gatherMs, longestMs: gatherMs, wakesShorten: true },
    failure: 'the archive was not told of a change; it is told again',
    async look() {
      thread.postMessage('look')
      return 'rest'
    },
  })
  return {
    trouble() {
      const found = findTrouble(archiveFolder(config))
      if (found === undefined) return []
      // Where nothing is sent the thread does not look.
      if (found === 'gone') thread.postMessage('look')
      return [
        found === 'gone'
          ? 'The archive is gone from its folder; it is being rebuilt from the database.'
          : 'The archive is being rebuilt from the database.',
      ]
    },
    async stop() {
      stopped = true
      await passing.stop()
      cancel()
      thread.ref()
      thread.postMessage('stop')
      const late = await Promise.race([running, pause(stopMs).then(() => true)])
      if (late) log.warn('the archive is not done; it goes on at the next start')
      await thread.terminate()
    },
  }
}
