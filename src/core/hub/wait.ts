/** The only waiting in the product: ask; if there is nothing, sleep until a wake-up or the deadline; ask again. */
import { isPassing } from '../../db/faults.ts'
import { type Hub, inside } from './hub.ts'
import { beginWait } from './waits.ts'

export interface Wait {
  /** The wake-up channel. */
  channel: string
  /** How long the caller is ready to wait; the hub's own limit holds too. */
  ms: number
  /** For waits that are no client's call; the hub's own limit, if left out. */
  limitMs?: number
  /** Any of them aborted ends the wait with nothing. */
  signals: readonly AbortSignal[]
  /** Whose wait it is; left out for those that are never refused. `counted`: the caller has begun it with `beginWait`. */
  waiter?: string | undefined
  counted?: boolean
}

export interface Answer<T> {
  found?: T | undefined
  /** With nothing found: the time of day when asking again makes sense without a wake-up (a loan that ends, say). */
  again?: number | undefined
}

/** From one question to a database that is away to the next. */
const awayMs = 500

/**
 * The query is the truth, a wake-up only its occasion: it may be lost or false. A waiter writes nothing while it waits.
 * A database that goes away meanwhile ends no wait, unless it stays away until the deadline (serve.wait.database).
 * Asked early, a transaction begun at once sees what it was woken for, and is committed with it; a reader does not see it yet.
 * The deadline is no time of day: a clock that is set would end the wait at once, or not for hours (serve.wait.monotonic).
 */
export async function wait<T>(
  hub: Hub,
  { channel, ms, limitMs = hub.limits.waitMs, signals, waiter, counted = false }: Wait,
  ask: (early: boolean) => Promise<Answer<T>>,
): Promise<T | undefined> {
  const deadline = hub.clock.monotonic() + Math.min(ms, limitMs)
  let woken = false
  let early = false
  let trouble: unknown
  let rouse = () => {}
  let leave: (() => void) | undefined
  const wake = (soon = false) => {
    woken = true
    early = soon
    rouse()
  }
  // Listen before asking: what is committed in between is then not missed.
  const unhook = ms > 0 ? hook(hub, channel, signals, wake) : undefined
  try {
    for (let first = true; ; first = false) {
      woken = false
      const soon = early
      early = false
      trouble = undefined
      const answer: Answer<T> = await ask(soon).catch((error) => {
        if (first || !isPassing(error)) throw error
        trouble = error
        return { again: hub.clock.now() + awayMs }
      })
      if (answer.found !== undefined) return answer.found
      const left = deadline - hub.clock.monotonic()
      if (signals.some((signal) => signal.aborted)) return undefined
      if (left <= 0 && trouble !== undefined) throw trouble
      if (left <= 0) return undefined
      if (woken && trouble === undefined) continue
      // Counted once it sleeps: what is there at once is given in any case.
      if (!counted) leave ??= beginWait(hub, waiter)
      const pauseMs = answer.again === undefined ? left : Math.min(left, answer.again - hub.clock.now())
      await new Promise<void>((resolve) => {
        const cancel = hub.clock.after(Math.max(1, pauseMs), resolve)
        rouse = () => {
          cancel()
          resolve()
        }
      })
    }
  } finally {
    leave?.()
    unhook?.()
  }
}

function hook(hub: Hub, channel: string, signals: readonly AbortSignal[], wake: (early?: boolean) => void): () => void {
  const off = hub[inside].wakes.on(channel, wake)
  const abort = () => wake()
  for (const signal of signals) signal.addEventListener('abort', abort)
  return () => {
    off()
    for (const signal of signals) signal.removeEventListener('abort', abort)
  }
}
