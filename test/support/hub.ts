/** A hub for tests: a real database, a clock that the test turns, a log that says nothing. */
import { pino } from 'pino'
import type { Clock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { commons } from '../../src/base/names.ts'
import type { Acting } from '../../src/core/agents.ts'
import { local } from '../../src/core/callers.ts'
import { type Hub, openHub } from '../../src/core/hub.ts'
import type { Db } from '../../src/db/port.ts'
import { TestClock } from './clock.ts'

export interface TestHubOptions {
  clock?: Clock
  mailboxDepth?: number
  waitMs?: number
}

export function openTestHub(
  db: Db,
  { clock = new TestClock(), mailboxDepth = 10_000, waitMs = 50_000 }: TestHubOptions = {},
): Promise<Hub> {
  return openHub({
    db,
    clock,
    ids: createIds(clock),
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    limits: { mailboxDepth, waitMs },
  })
}

export const as = (name: string, project: string = commons): Acting => ({ caller: local, project, name })

/** Taking mail at once, without a wait. */
export const now = { leaseMs: 0, waitMs: 0, signals: [] as AbortSignal[] }
