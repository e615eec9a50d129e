/** Open pages that ask for themselves again, told of a change: one after the other, and after each they rest twice as long as it took. */
import { pause, systemClock } from '../../base/clock.ts'

/** Sent by assets/live.js where nobody waits for the page. */
export const refreshHeader = 'x-parley-refresh'

/** Hundreds of pages take a third of the time at most, and less of it where agents make each answer slow. */
const restsPerAnswer = 2

/** `isGone`: whoever asked has left meanwhile, and nothing is read for it. */
export type InTurn = <T>(isGone: () => boolean, answer: () => Promise<T>) => Promise<T | undefined>

export function createRefreshes(): InTurn {
  let turn: Promise<unknown> = Promise.resolve()
  return (isGone, answer) => {
    let tookMs = 0
    const mine = turn.then(async () => {
      if (isGone()) return undefined
      const begun = systemClock.monotonic()
      try {
        return await answer()
      } finally {
        tookMs = systemClock.monotonic() - begun
      }
    })
    turn = mine.then(
      () => pause(restsPerAnswer * tookMs),
      () => pause(restsPerAnswer * tookMs),
    )
    return mine
  }
}
