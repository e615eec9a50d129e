/** Reads the rest of a request that is refused unread: a client that is still writing would never see the answer. */
import type { IncomingMessage } from 'node:http'
import { systemClock } from '../../base/clock.ts'

const mostBytes = 64 << 20
const mostMs = 5000

/** Resolves when everything has come in, or enough was given up on. */
export function drain(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = mostBytes
    const cancel = systemClock.after(mostMs, done)
    function done(): void {
      cancel()
      request.off('data', count)
      resolve()
    }
    function count({ length }: Buffer): void {
      left -= length
      if (left < 0) done()
    }
    request.on('data', count).once('end', done).once('close', done)
  })
}
