/** The end of a command that goes on until a person has seen enough. */
import { stayAlive } from '../../../base/clock.ts'

/** Ctrl-C and SIGTERM end it in good order. The timers of a wait keep no process alive: this does. */
export function untilSignal(): { signal: AbortSignal; release(): void } {
  const stop = new AbortController()
  const abort = () => stop.abort()
  const letGo = stayAlive()
  process.once('SIGINT', abort).once('SIGTERM', abort)
  return {
    signal: stop.signal,
    release() {
      letGo()
      process.off('SIGINT', abort).off('SIGTERM', abort)
    },
  }
}
