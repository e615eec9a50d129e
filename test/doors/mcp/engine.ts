/** An engine for tests: sessions that several of them can share, a log that says nothing. */
import { pino } from 'pino'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { createIds } from '../../../src/base/ids.ts'
import type { Log } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import type { Caller } from '../../../src/core/access/callers.ts'
import type { EngineOptions } from '../../../src/doors/mcp/protocol/engine.ts'
import type { EndedSessions } from '../../../src/doors/mcp/protocol/sessions.ts'

/** Ended sessions as several processes would share them. */
export class SharedEnds implements EndedSessions {
  readonly #ended = new Map<string, number>()
  /** The callers that ended one. */
  readonly callers: string[] = []
  readonly #watchers = new Set<(nonce: string) => void>()

  async has(nonce: string): Promise<boolean> {
    return this.#ended.has(nonce)
  }
  async add(caller: Caller, nonce: string, until: number): Promise<void> {
    this.callers.push(caller.key)
    this.#ended.set(nonce, until)
    for (const fn of this.#watchers) fn(nonce)
  }
  watch(fn: (nonce: string) => void): () => void {
    this.#watchers.add(fn)
    return () => this.#watchers.delete(fn)
  }
}

/** A clock a thousand times as fast: what takes seconds takes milliseconds. */
export const hastyClock: Clock = {
  now: () => systemClock.now() * 1000,
  monotonic: () => systemClock.monotonic() * 1000,
  after: (ms, fn) => systemClock.after(ms / 1000, fn),
}

export const silent: Log = pino({ level: 'silent' })

export interface TestEngineOptions {
  clock?: Clock
  log?: Log
  ended?: EndedSessions
  graceMs?: number
}

export function engineOptions({
  clock = systemClock,
  log = silent,
  ended = new SharedEnds(),
  graceMs = 1000,
}: TestEngineOptions = {}) {
  const sessions = { secret: 'a secret for tests', ttlMs: 7 * 86_400_000, idleMs: 600_000, ended }
  return {
    clock,
    log,
    ids: createIds(clock),
    metrics: createMetrics(),
    version: '1.2.3',
    graceMs,
    sessions,
  } satisfies EngineOptions
}
