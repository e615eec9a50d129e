/** `parley serve` as a process: signals, the note that it runs, the banner, systemd; alone, or as one of several workers. */
import { systemClock } from '../base/clock.ts'
import { giveBackAtRest } from '../base/heap.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../settings/all.ts'
import type { Settings } from '../settings/read.ts'
import { banner, notReady } from './banner.ts'
import type { Surroundings } from './command-parts.ts'
import { activatedSocket } from './listening.ts'
import type { ChangesMissing } from './loss.ts'
import { notifySystemd } from './notify.ts'
import { noteRunning } from './running.ts'
import { startServer } from './serve.ts'
import { openServerLog } from './server-log.ts'
import { onSignals, stopOnSignal } from './stop-on-signal.ts'
import { version } from './version.ts'
import { linkWorker, onStop, tellPrimary, workerPlace } from './worker-link.ts'
import { startWorkers } from './workers.ts'

/** The server as its start shows it. */
export interface Shown extends Omit<Parameters<typeof banner>[0], 'version'> {
  readonly missing?: Pick<ChangesMissing, 'message' | 'hint'> | undefined
}

type Around = Pick<Surroundings, 'stdout' | 'stderr' | 'env'>

interface ServeOptions {
  readonly acceptLoss?: boolean | undefined
}

export async function serve(
  { config, warnings }: Settings,
  around: Around,
  { acceptLoss = false }: ServeOptions = {},
): Promise<void> {
  const { stdout, stderr, env } = around
  // The reader of the log may be gone (`| tee`, and Ctrl-C): no reason to fall over.
  for (const stream of [stdout, stderr]) stream.on('error', () => {})
  const log = openServerLog(config, stderr)
  // One call or one connection has failed, and nobody asked how: no reason to end all the others.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a failure that nobody waited for'))
  if (signalsOf(config).includes('SIGHUP')) process.on('SIGHUP', () => {})
  const place = workerPlace(env)
  if (place === undefined) for (const warning of warnings) log.warn(warning)
  const drainMs = config.DRAIN_SECONDS * 1000
  if (place !== undefined) {
    const worker = linkWorker(place, log)
    const server = await startServer(config, log, { acceptLoss: place.acceptLoss ?? false, fd: place.fd, worker })
    giveBackAtRest(systemClock)
    stopOnSignal(server, { drainMs, log, told: () => {}, on: onStop })
    // The terminal and systemd signal every process; the one that has started this one says what to do.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
    if (config.HTTP_TLS_CERT !== undefined) renewOnSignal(server, log)
    tellPrimary({ kind: 'ready', shown: shownOf(server) })
    return
  }
  const fd = activatedSocket(env, process)
  const stopping = { drainMs, log, told: () => notifySystemd(env, '--stopping', log), on: onSignals }
  if (config.HTTP_WORKERS > 1) {
    const passedOn = signalsOf(config)
    const shown = await startWorkers(
      { count: config.HTTP_WORKERS, fd, acceptLoss, clock: systemClock, passedOn },
      stopping,
    )
    // The first worker has said why it did not start.
    if (shown === undefined) process.exit(1)
    announce(shown, config, around, log)
    return
  }
  const server = await startServer(config, log, { acceptLoss, fd })
  giveBackAtRest(systemClock)
  stopOnSignal(server, stopping)
  if (config.HTTP_TLS_CERT !== undefined) renewOnSignal(server, log)
  announce(shownOf(server), config, around, log)
}

/** Signals that a server heeds, besides those that end it. Any other would end a worker. */
function signalsOf(config: Config): NodeJS.Signals[] {
  if (process.platform === 'win32') return []
  return endsWithTerminal(config) ? ['SIGUSR2'] : ['SIGHUP', 'SIGUSR2']
}

/** A terminal that is closed sends SIGHUP, and so does a reload, also of a server that has nothing to read anew: it must go on. */
const endsWithTerminal = ({ LOG_FILE, HTTP_TLS_CERT }: Config): boolean =>
  process.stdin.isTTY && LOG_FILE === undefined && HTTP_TLS_CERT === undefined

/** Tells that it runs: `parley status`, the person who started it, and systemd. */
function announce(shown: Shown, { STORAGE_ROOT }: Config, { stdout, env }: Around, log: Log): void {
  const { missing } = shown
  noteRunning(STORAGE_ROOT, { url: shown.url, version, started: new Date(systemClock.now()).toISOString() })
  stdout.write(`${missing === undefined ? banner({ version, ...shown }) : notReady({ version, ...shown, missing })}\n`)
  notifySystemd(env, '--ready', log)
}

/** Without its functions: it goes from one process to another. */
function shownOf(server: Shown): Shown {
  const { url, publicUrl, mailPath, storage, keyNeeded, unguarded, nameless, missing } = server
  const named = missing && { message: missing.message, hint: missing.hint }
  return { url, publicUrl, mailPath, storage, keyNeeded, unguarded, nameless, ...(named && { missing: named }) }
}

/** A file that cannot be used leaves the certificate that is in use. */
function renewOnSignal(server: { renewCertificate(): void }, log: Log): void {
  process.on('SIGHUP', () => {
    try {
      server.renewCertificate()
      log.info('the certificate was read again')
    } catch (error) {
      log.error({ err: error }, 'the certificate was not read again; the old one stays in use')
    }
  })
}
