/** The one loop of work in the background: woken, or after some time, it looks; it backs off when it cannot go on. */
import { inNoTrace } from '../../base/tracing.ts'
import { type Hub, onWake } from './hub.ts'

/** The occasion of a look. */
export interface Occasion {
  /** Aborted when the loop is stopped. */
  readonly signal: AbortSignal
  /** Whether a wake has come since the last look began; false: time alone led to this one. */
  readonly woken: boolean
  /** Whether wakes may have been lost since then. */
  readonly missed: boolean
  /** Whether a wake has come since this look began. */
  isWoken(): boolean
}

/** After a look: rest until a wake; look again after some time, or earlier for a wake; back off; end the loop. */
export type Next = 'rest' | { readonly inMs: number } | 'blocked' | 'over'

export interface LoopOptions {
  /** A wake on a channel with this prefix leads to a look. Left out: only time does, and the caller's own `wake`. */
  readonly channels?: string
  /** From a wake to the look: what comes meanwhile shares it. With 0 a wake leads to a look at once. */
  readonly gatherMs: number
  /** From the end of a look to the next one for a wake, at least. */
  readonly apartMs?: number
  /** From the beginning to the first look. Left out: until the first wake. */
  readonly firstMs?: number
  /** The longest rest. Left out: until a wake. */
  readonly anywayMs?: number
  /** The pause after a look that was blocked or failed, twice as long each time. */
  readonly backOff: { readonly firstMs: number; readonly longestMs: number; readonly wakesShorten: boolean }
  /** Logged with `about` when a look fails. */
  readonly failure: string
  readonly about?: object
  look(occasion: Occasion): Promise<Next>
}

export interface Loop {
  wake(): void
  /** Resolves after the look in hand, also where that fails. */
  stop(): Promise<void>
}

/**
 *   resting      ── wake: gatherMs; none: anywayMs, or the time that the last look named ──▶ looking
 *   looking      ── done ──▶ resting
 *   looking      ── blocked or failed ──▶ backing off
 *   backing off  ── its pause is over; a wake ends it earlier only with `wakesShorten` ──▶ looking
 *   any          ── stopped, or `over` ──▶ ended, after the look in hand
 *
 * One look at a time. A wake that comes during a look leads to another: it may have come too late for this one.
 */
export function keepLooking(hub: Hub, { gatherMs, apartMs = 0, backOff, ...options }: LoopOptions): Loop {
  const { clock, log } = hub
  const ended = new AbortController()
  let state: 'resting' | 'looking' | 'backing off' = 'resting'
  let woken = false
  let missed = false
  let blocked = 0
  let dueAt = Number.POSITIVE_INFINITY
  let notBefore = clock.monotonic()
  let cancel = () => {}
  let looking = Promise.resolve()

  function lookIn(ms: number): void {
    cancel()
    dueAt = clock.monotonic() + ms
    cancel = clock.after(ms, begin)
  }

  function begin(): void {
    cancel()
    dueAt = Number.POSITIVE_INFINITY
    // The call that woke it is not the one that asks for this.
    looking = inNoTrace(look)
  }

  /** Never later than a look that is due anyway. */
  function lookSoon(): void {
    if (ended.signal.aborted || (state === 'backing off' && !backOff.wakesShorten)) return
    const now = clock.monotonic()
    const ms = Math.max(gatherMs, notBefore - now)
    if (ms <= 0) begin()
    else if (now + ms < dueAt) lookIn(ms)
  }

  /** A failure is logged, and never thrown: nobody waits for a look. */
  async function look(): Promise<void> {
    state = 'looking'
    const occasion = { signal: ended.signal, woken, missed, isWoken: () => woken }
    woken = false
    missed = false
    const next = await options.look(occasion).catch((error: unknown): Next => {
      if (!ended.signal.aborted) log.warn({ err: error, ...options.about }, options.failure)
      return 'blocked'
    })
    if (next === 'over') return end()
    if (ended.signal.aborted) return
    notBefore = clock.monotonic() + apartMs
    state = next === 'blocked' ? 'backing off' : 'resting'
    const pauseMs = pauseAfter(next)
    if (pauseMs !== undefined) lookIn(pauseMs)
    if (woken) lookSoon()
  }

  function pauseAfter(next: Exclude<Next, 'over'>): number | undefined {
    if (next === 'blocked') return Math.min(backOff.longestMs, backOff.firstMs * 2 ** blocked++)
    blocked = 0
    return next === 'rest' ? options.anywayMs : next.inMs
  }

  function wake(): void {
    if (woken) return
    woken = true
    if (state !== 'looking') lookSoon()
  }

  const lost = () => {
    missed = true
    wake()
  }
  const unlisten = options.channels === undefined ? undefined : onWake(hub, options.channels, wake, lost)
  function end(): void {
    ended.abort()
    unlisten?.()
    cancel()
  }

  if (options.firstMs !== undefined) lookIn(options.firstMs)
  return {
    wake,
    async stop() {
      end()
      await looking
    },
  }
}
