/** Wrong keys, counted for each address: past a limit they are told to come back later. Good keys are never held up. */
import { HubError } from '../../base/errors.ts'
import type { Guessing } from '../../core/access/guessing.ts'

export interface WrongKeys {
  /** The answer to a request whose credentials were not good: the error itself, or that there were too many of them. */
  judge(error: unknown, address: string | undefined): Promise<unknown>
}

/** Counts a wrong guess, and throws its error, or that there were too many. */
type Count = (guessing: Guessing, wrong: HubError) => Promise<never>

/** 0 is no limit. */
export const createWrongKeys = (perMinute: number, count: Count): WrongKeys => ({
  async judge(error, address = '') {
    if (perMinute === 0 || !(error instanceof HubError) || error.code !== 'UNAUTHENTICATED') return error
    const tooMany = {
      message: 'Too many wrong keys came from this address.',
      hint: 'Look at the key, and try again later.',
    }
    return count({ guesser: `key:${address}`, most: perMinute, tooMany }, error).catch((judged: unknown) =>
      // A store that cannot count does not make a wrong key a fault of the server.
      judged instanceof HubError && judged.code === 'RATE_LIMITED' ? judged : error,
    )
  },
})
