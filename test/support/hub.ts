/** A hub for tests: a real database, a clock that the test turns, a log that says nothing. */
import { pino } from 'pino'
import type { Clock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import type { Log } from '../../src/base/log.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { commons } from '../../src/base/names.ts'
import { local } from '../../src/core/access/callers.ts'
import type { Acting } from '../../src/core/agents/acting.ts'
import { type Hub, type HubParts, openHub, type Rules } from '../../src/core/hub/hub.ts'
import type { Db } from '../../src/db/port.ts'
import { plainAnnotations } from '../../src/remote-tools/cleaning.ts'
import { TestClock } from './clock.ts'

export interface TestHubOptions {
  clock?: Clock
  mailboxDepth?: number
  mailboxAttempts?: number
  waitMs?: number
  waitsPerAgent?: number
  waitsTotal?: number
  tasksPerAgent?: number
  /** Other rules than the usual ones. */
  rules?: Partial<Rules>
  llm?: HubParts['llm']
  archive?: HubParts['archive']
  remoteTools?: HubParts['remoteTools']
  log?: Log
}

/** The settings that Parley starts with. */
export const usualRules: Rules = {
  contacts: { enforced: true, autoMs: 86_400_000, handshake: true, retry: true, codeMs: 3_600_000, codesShown: true },
  makeRecipients: true,
  names: 'coerce',
  worktreesApart: false,
  inboxLeases: true,
  overdueMs: 1_800_000,
  stuckMs: 900_000,
  waking: { confirmMs: 30_000, remindMs: 900_000, loopTurns: 30, loopPerHour: 120 },
  broadcastMost: 200,
  inboxQuota: undefined,
  attachments: {
    convert: true,
    inlineBytes: 65_536,
    keepOriginals: false,
    quotaBytes: undefined,
    closed: [],
    roots: [],
    hidden: false,
  },
}

export function openTestHub(
  db: Db,
  {
    clock = new TestClock(),
    mailboxDepth = 10_000,
    mailboxAttempts = 0,
    waitMs = 50_000,
    waitsPerAgent = 1000,
    waitsTotal = 20_000,
    tasksPerAgent = 200,
    rules,
    llm,
    archive,
    remoteTools,
    log = pino({ level: 'silent' }),
  }: TestHubOptions = {},
): Promise<Hub> {
  return openHub({
    db,
    clock,
    ids: createIds(clock),
    log,
    metrics: createMetrics(),
    limits: { mailboxDepth, mailboxAttempts, waitMs, waitsPerAgent, waitsTotal, tasksPerAgent },
    rules: { ...usualRules, ...rules },
    llm,
    archive,
    remoteTools,
  })
}

export const as = (name: string, project: string = commons): Acting => ({ caller: local, project, name })

/** The same at a door where one registers first. */
export const registered = (name: string, project: string): Acting => ({ ...as(name, project), registered: true })

/** Taking mail at once, without a wait. */
export const now = { loanMs: 0, waitMs: 0, signals: [] as AbortSignal[] }

/** The tools of one server, `tickets`, whose only tool says what it was given. */
export const standInRemoteTools: NonNullable<HubParts['remoteTools']> = {
  has: (server) => server === 'tickets',
  tools: (servers) =>
    [...servers].map((server) => ({
      server,
      name: `${server}.search`,
      remote: 'search',
      known: true,
      description: '',
      schema: {},
      annotations: plainAnnotations(undefined),
    })),
  call: async (_tool, args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
  close: async () => {},
}
