/** The archive of a server: a thread of its own, so that no request waits for it. */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Archive } from '../archive/archive.ts'
import { hasGit } from '../archive/git.ts'
import { pause, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import type { LogLine } from '../base/log.ts'
import { rebuildArchive, verifyArchive } from '../core/archive/verifying.ts'
import { type Hub, onWake } from '../core/hub/hub.ts'
import type { ArchiveSteering } from '../doors/cli/archive.ts'
import type { Config } from '../settings/all.ts'

/** Where the projects' repositories are. */
export const archiveFolder = ({ STORAGE_ROOT }: Pick<Config, 'STORAGE_ROOT'>): string => join(STORAGE_ROOT, 'projects')

/** Of all commits. Git takes no angle brackets in a name. */
export const authorOf = ({ GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL }: Config): { name: string; email: string } => ({
  name: GIT_AUTHOR_NAME.replace(/[<>\p{Cc}]/gu, ''),
  email: GIT_AUTHOR_EMAIL.replace(/[<>\p{Cc}\s]/gu, ''),
})

/** A thread that fails is started anew after this, and later each time. */
const [againMs, longestMs] = [10_000, 600_000]

/** What is left after this is done at the next start. */
const stopMs = 2500

// A build has no .ts.
const program = new URL(`./archive-thread${import.meta.url.slice(-3)}`, import.meta.url)

/** Until the returned function is called. */
export function startArchiving(hub: Hub, config: Config): () => Promise<void> {
  const { log } = hub
  let stopped = false
  let failures = 0
  let cancel = () => {}
  let thread: Worker
  let running: Promise<void> = Promise.resolve()

  function start(): void {
    thread = new Worker(program, { workerData: config, execArgv: [] })
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
  const unwatch = passOnWakes(hub, () => thread.postMessage('look'))
  return async () => {
    stopped = true
    unwatch()
    cancel()
    thread.ref()
    thread.postMessage('stop')
    const late = await Promise.race([running, pause(stopMs).then(() => true)])
    if (late) log.warn('the archive is not done; it goes on at the next start')
    await thread.terminate()
  }
}

/** On PostgreSQL most changes are announced to nobody; on SQLite the thread sees every commit in the file. */
const gatherMs = 100

function passOnWakes(hub: Hub, look: () => void): () => void {
  let cancel: (() => void) | undefined
  const wake = () => {
    cancel ??= hub.clock.after(gatherMs, () => {
      cancel = undefined
      look()
    })
  }
  const unwatch = onWake(hub, '', wake, wake)
  return () => {
    unwatch()
    cancel?.()
  }
}

/** What people may do with the archive at a command line. */
export function archiveSteering(config: Config): ArchiveSteering {
  const folder = archiveFolder(config)
  async function at(hub: Hub): Promise<Archive> {
    if (await hasGit()) return new Archive(folder, { author: authorOf(config), newId: hub.ids.short() })
    throw new HubError('NOT_FOUND', 'git was not found on this machine.', { hint: 'Install git, and call it again.' })
  }
  return {
    folder,
    verify: async (hub, caller, progress) => verifyArchive(hub, caller, await at(hub), progress),
    rebuild: async (hub, caller, progress) => rebuildArchive(hub, caller, await at(hub), progress),
  }
}
