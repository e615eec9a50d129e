/** Wrong keys, counted for each network of addresses: past a limit they are told to come back later, and so is the operator's token. Keys of agents are never held up. */
import type { Clock } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import type { Guessing } from '../../core/access/guessing.ts'
import { networkOf } from './networks.ts'

export interface WrongKeys {
  /** The answer to a request whose credentials were not good: the error itself, or that there were too many of them. */
  judge(error: unknown, address: string | undefined): Promise<unknown>
  /** The refusal of the operator's token from a network that is past the limit: a person may have chosen it, and a guesser finds it. */
  heldUp(address: string | undefined): HubError | undefined
}

/** Counts a wrong guess, and throws its error, or that there were too many. */
type Count = (guessing: Guessing, wrong: HubError) => Promise<never>

/** A wrong key costs a commit: so many networks a minute are counted each by itself, and all others as one. */
const mostNetworks = 100

/** So many networks are held up, each by itself: as many others cannot lock the operator out. */
const mostHeldUp = 10_000

const windowMs = 60_000

/** The wrong keys of a network since a time, of this process; past the limit, of all processes. */
interface Window {
  from: number
  count: number
}

const others = 'key:others'

const tooMany = {
  message: 'Too many wrong keys came from this address.',
  hint: 'Check the key, and try again later.',
}

/** 0 is no limit. */
export function createWrongKeys(perMinute: number, clock: Clock, count: Count): WrongKeys {
  let minute = 0
  const counted = new Set<string>()
  const windows = new Map<string, Window>()

  function windowOf(address: string): Window | undefined {
    const now = clock.now()
    const network = networkOf(address)
    const window = windows.get(network)
    if (window !== undefined && now < window.from + windowMs) return window
    if (windows.size >= mostHeldUp)
      for (const [each, { from }] of windows) if (now >= from + windowMs) windows.delete(each)
    if (windows.size >= mostHeldUp) return undefined
    const fresh = { from: now, count: 0 }
    windows.set(network, fresh)
    return fresh
  }

  function guesserOf(address: string): string {
    const now = Math.floor(clock.now() / 60_000)
    if (now !== minute) counted.clear()
    minute = now
    const network = networkOf(address)
    if (counted.size < mostNetworks) counted.add(network)
    return counted.has(network) ? `key:${network}` : others
  }

  return {
    async judge(error, address = '') {
      if (perMinute === 0 || !(error instanceof HubError) || error.code !== 'UNAUTHENTICATED') return error
      const window = windowOf(address)
      if (window !== undefined) window.count++
      const guesser = guesserOf(address)
      return count({ guesser, most: perMinute, tooMany }, error).catch((judged: unknown) => {
        // A store that cannot count does not make a wrong key a fault of the server.
        if (!(judged instanceof HubError) || judged.code !== 'RATE_LIMITED') return error
        if (window !== undefined && guesser !== others) {
          window.count = Math.max(window.count, perMinute)
          window.from = clock.now() + (judged.retryAfter ?? 0) * 1000 - windowMs
        }
        return judged
      })
    },
    heldUp(address = '') {
      const window = windows.size === 0 ? undefined : windows.get(networkOf(address))
      const left = window === undefined ? 0 : window.from + windowMs - clock.now()
      if (window === undefined || left <= 0 || window.count < perMinute) return undefined
      return new HubError('RATE_LIMITED', tooMany.message, {
        hint: tooMany.hint,
        retryAfter: Math.ceil(left / 1000),
      })
    },
  }
}
