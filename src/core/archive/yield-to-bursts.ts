/** Bursts of mail go first: where the archive falls behind them it waits for a lull, and makes up for it then. */
import { pause } from '../../base/clock.ts'
import { findLastChange } from '../../store/feed/changes.ts'
import { type Hub, reader } from '../hub/hub.ts'

/** From one look at the feed to the next, and the changes in between that make a burst: about what the archive takes. */
const [lookEveryMs, burstChanges] = [100, 100]

/** Longer traffic is no burst: the archive goes on beside it. */
const longestMs = 10_000

type GiveWay = (pageLength: number) => Promise<void>

/** The returned function is called before each page, and resolves when it is to be written. */
export function yieldToBursts(hub: Hub, signal: AbortSignal, wait: typeof pause = pause): GiveWay {
  let patienceMs = longestMs
  let before: { readonly newest: number; readonly taken: number } | undefined

  const newest = () => findLastChange(reader(hub))

  async function untilLull(): Promise<void> {
    for (let from = await newest(); patienceMs > 0 && !signal.aborted; patienceMs -= lookEveryMs) {
      await wait(lookEveryMs, signal)
      const to = await newest()
      if (to - from < burstChanges) return
      from = to
    }
  }

  return async (pageLength) => {
    const behind = pageLength >= burstChanges && before !== undefined && (await newest()) - before.newest > before.taken
    if (behind) await untilLull()
    else patienceMs = longestMs
    before = { newest: await newest(), taken: pageLength }
  }
}
