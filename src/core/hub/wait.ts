/** How a call waits: ask; if there is nothing, sleep until a wake-up or the deadline; ask again. Work in the background goes on by keepLooking. */
import { endForWait, inSpan, isTracing } from '../../base/tracing.ts'
import { isPassing } from '../../db/faults.ts'
import { type Hub, inside } from './hub.ts'
import { memory } from './memory.ts'
import { beginWait } from './waits.ts'

interface Wait {
  /** The wake-up channel. */
  channel: string
  /** How long the caller is ready to wait; the hub's own limit holds too. */
  ms: number
  /** For waits that are no client's call; the hub's own limit, if left out. */
  limitMs?: number
  /** Only one waiter can have what is found: a wake-up goes to one of those on the channel, who passes it on. */
  competing?: boolean
  /** Any of them aborted ends the wait with nothing. */
  signals: readonly AbortSignal[]
  /** Where somebody waits: metrics count the waiters of each door. */
  door?: string | undefined
  /** Whose wait it is; left out for those that are never refused. `counted`: the caller has begun it with `beginWait`. */
  waiter?: string | undefined
  /** It waits in the agent's place, which does not count as waiting itself. */
  standsIn?: boolean
  counted?: boolean
}

interface Answer<T> {
  found?: T | undefined
  /** With nothing found: the time of day when asking again makes sense without a wake-up (a loan that ends, say). */
  again?: number | undefined
}

/** From one question to a database that is away to the next. */
const awayMs = 500

/**
 * The query is the truth, a wake-up only its occasion: it may be lost or false. A waiter writes nothing while it waits.
 * A database that goes away meanwhile ends no wait, unless it stays away until the deadline (serve.wait.database).
 * Asked while that is uncommitted, a transaction begun at once sees what it was woken for, and is committed with it; a reader does not see it yet.
 * The deadline is no time of day: a clock that is set would end the wait at once, or not for hours (serve.wait.monotonic).
 */
export async function wait<T>(
  hub: Hub,
  {
    channel,
    ms,
    limitMs = hub.limits.waitMs,
    competing = false,
    signals,
    door,
    waiter,
    standsIn = false,
    counted = false,
  }: Wait,
  ask: (uncommitted: boolean) => Promise<Answer<T>>,
): Promise<T | undefined> {
  const { wakes } = hub[inside]
  const deadline = hub.clock.monotonic() + Math.min(ms, limitMs)
  let woken = false
  /** A wake-up that was not answered by finding nothing: it is passed on by who leaves. */
  let told = false
  let uncommitted = false
  let trouble: unknown
  /** The deadline ended the sleep: something that is found now came without its wake-up. */
  let timedOut = false
  let found: T | undefined
  let rouse = () => {}
  let endWait: (() => void) | undefined
  /** Counts it among the waiters of its door, once it sleeps. */
  let waiters: { inc(by: number): void } | undefined
  /** When it went to sleep for the first time, where that is traced. */
  let since: number | undefined
  const rise = () => {
    woken = true
    self.asleep = false
    rouse()
  }
  const tell = (beforeCommit = false) => {
    told = true
    uncommitted = beforeCommit
    rise()
  }
  const self = { tell, asleep: false, uncommitted: false }
  // Listen before asking: what is committed in between is then not missed.
  const leave = ms <= 0 ? undefined : competing ? wakes.queue(channel, self) : wakes.on(channel, tell)
  if (leave !== undefined) for (const signal of signals) signal.addEventListener('abort', rise)
  try {
    for (let first = true; ; first = false) {
      woken = false
      const beforeCommit = uncommitted
      uncommitted = false
      trouble = undefined
      const asking = since === undefined ? ask(beforeCommit) : askWoken(hub, since, () => ask(beforeCommit))
      const answer: Answer<T> = await asking.catch((error) => {
        if (first || !isPassing(error)) throw error
        trouble = error
        return { again: hub.clock.now() + awayMs }
      })
      found = answer.found
      if (found !== undefined && timedOut && !beforeCommit) hub.metrics.wakesLost.inc()
      if (found !== undefined) return found
      const left = deadline - hub.clock.monotonic()
      if (signals.some((signal) => signal.aborted)) return undefined
      if (left <= 0 && trouble !== undefined) throw trouble
      if (left <= 0) return undefined
      if (woken && trouble === undefined) continue
      // Counted once it sleeps: what is there at once is given in any case.
      if (!counted) endWait ??= beginWait(hub, waiter, { standsIn })
      if (door !== undefined && waiters === undefined) {
        waiters = hub.metrics.waiters.labels(door)
        waiters.inc(1)
      }
      if (since === undefined && isTracing()) {
        since = hub.clock.monotonic()
        endForWait(left)
      }
      told = false
      if (competing && answer.again !== undefined) tellNextAt(hub, channel, answer.again)
      const again = competing ? undefined : answer.again
      const pauseMs = again === undefined ? left : Math.min(left, again - hub.clock.now())
      self.asleep = true
      await new Promise<void>((resolve) => {
        const cancel = hub.clock.after(Math.max(1, pauseMs), () => {
          timedOut = again === undefined
          resolve()
        })
        rouse = () => {
          cancel()
          resolve()
        }
      })
      self.asleep = false
    }
  } finally {
    leave?.()
    endWait?.()
    waiters?.inc(-1)
    for (const signal of signals) signal.removeEventListener('abort', rise)
    // Two, where there was something: a commit of a hundred messages is one wake-up, and a chain would take them one by one.
    if (competing && told) for (let more = found === undefined ? 1 : 2; more > 0; more--) wakes.tellNext(channel)
  }
}

/** The spans of the call ended when it went to sleep: each look that follows has one of its own. */
const askWoken = <T>(hub: Hub, since: number, ask: () => Promise<Answer<T>>): Promise<Answer<T>> =>
  inSpan('woken', async (span) => {
    const answer = await ask()
    span?.note({
      'parley.wait.ms': Math.round(hub.clock.monotonic() - since),
      'parley.wait.found': answer.found !== undefined,
    })
    return answer
  })

/** The next time that each queue is told by the clock: once for all who stand in it. */
const nextTimes = memory(() => new Map<string, { readonly at: number; readonly cancel: () => void }>())

function tellNextAt(hub: Hub, channel: string, at: number): void {
  const times = nextTimes(hub)
  const known = times.get(channel)
  if (known !== undefined && known.at <= at) return
  known?.cancel()
  const cancel = hub.clock.after(Math.max(1, at - hub.clock.now()), () => {
    times.delete(channel)
    hub[inside].wakes.tellNext(channel)
  })
  times.set(channel, { at, cancel })
}
