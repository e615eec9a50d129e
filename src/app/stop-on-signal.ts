/** The end of a server's process: the first signal stops it in good order, a second one at once. */
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'

/** SIGTERM promises an exit within five seconds after the draining. */
const exitMs = 4500

interface Stopping {
  drain(): void
  stop(): Promise<void>
}

export interface StoppingOptions {
  readonly drainMs: number
  readonly log: Log
  /** Called at the first signal. */
  told(): void
  /** Calls `stop` at each signal, or when a worker is told to stop. */
  on(stop: (signal: NodeJS.Signals) => void): void
}

export const onSignals: StoppingOptions['on'] = (stop) => {
  process.on('SIGINT', stop).on('SIGTERM', stop)
}

/** Calls left after the promised time are cut off. */
export function stopOnSignal(server: Stopping, { drainMs, log, told, on }: StoppingOptions): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping')
    told()
    if (drainMs === 0) return stop()
    server.drain()
    systemClock.after(drainMs, stop)
  }
  const stop = () => {
    systemClock.after(exitMs, () => {
      log.warn('stopping takes too long; open requests are cut off')
      process.exit(0)
    })
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  on(onSignal)
}
