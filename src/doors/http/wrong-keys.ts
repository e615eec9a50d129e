/** Wrong keys, counted for each network of addresses: past a limit they are told to come back later. Good keys are never held up. */
import type { Clock } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import type { Guessing } from '../../core/access/guessing.ts'
import { networkOf } from './networks.ts'

export interface WrongKeys {
  /** The answer to a request whose credentials were not good: the error itself, or that there were too many of them. */
  judge(error: unknown, address: string | undefined): Promise<unknown>
}

/** Counts a wrong guess, and throws its error, or that there were too many. */
type Count = (guessing: Guessing, wrong: HubError) => Promise<never>

/** A wrong key costs a commit: so many networks a minute are counted each by itself, and all others as one. */
const mostNetworks = 100

const tooMany = {
  message: 'Too many wrong keys came from this address.',
  hint: 'Look at the key, and try again later.',
}

/** 0 is no limit. */
export function createWrongKeys(perMinute: number, clock: Clock, count: Count): WrongKeys {
  let minute = 0
  const counted = new Set<string>()

  function guesserOf(address: string): string {
    const now = Math.floor(clock.now() / 60_000)
    if (now !== minute) counted.clear()
    minute = now
    const network = networkOf(address)
    if (counted.size < mostNetworks) counted.add(network)
    return `key:${counted.has(network) ? network : 'others'}`
  }

  return {
    async judge(error, address = '') {
      if (perMinute === 0 || !(error instanceof HubError) || error.code !== 'UNAUTHENTICATED') return error
      return count({ guesser: guesserOf(address), most: perMinute, tooMany }, error).catch((judged: unknown) =>
        // A store that cannot count does not make a wrong key a fault of the server.
        judged instanceof HubError && judged.code === 'RATE_LIMITED' ? judged : error,
      )
    },
  }
}
