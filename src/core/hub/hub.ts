/** The hub that every verb works with. Doors hold it and pass it on; what is inside of it belongs to core. */
import type { ArchiveView } from '../../archive/view.ts'
import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Db, DbFigures, Look, Reader } from '../../db/port.ts'
import type { Llm } from '../../llm/llm.ts'
import type { RemoteTools } from '../../remote-tools/remote-tools.ts'
import { findLastChange } from '../../store/feed/changes.ts'
import { followWakes } from './follow-wakes.ts'
import { explained, Trouble } from './trouble.ts'
import { feedChannel, Wakes } from './wakes.ts'

/**
 * The settings that hold for all agents. They name nouns of later rooms, which this room may not import: each hub has its
 * own, and a type parameter for them would run through every verb.
 */
export interface Rules {
  readonly contacts: {
    /** Whether policies are asked at all. */
    readonly enforced: boolean
    /** How long an automatic contact lasts, and how long a message counts as recent contact. */
    readonly autoMs: number
    /** Whether contact is made automatically where a policy wants it first. */
    readonly handshake: boolean
    /** Whether the send goes on once contact was made automatically. */
    readonly retry: boolean
    /** How long the code of a request is good, and whether the one who is asked is shown it. */
    readonly codeMs: number
    readonly codesShown: boolean
  }
  /** Whether mail to a name that nobody has makes that agent, at doors where one registers first. */
  readonly makeRecipients: boolean
  readonly names: 'strict' | 'coerce' | 'always_auto'
  /** Whether a git worktree is a project of its own, and not of its main checkout. */
  readonly worktreesApart: boolean
  /** Whether an exclusive lease on an agent's inbox in the archive keeps the mail of others from it. */
  readonly inboxLeases: boolean
  /** The age from which an acknowledgement is overdue. */
  readonly overdueMs: number
  /** How long an agent that others wait for may be silent before it counts as stuck. */
  readonly stuckMs: number
  readonly waking: {
    /** How long an announcement may go without a turn that confirms it. */
    readonly confirmMs: number
    /** After how long an agent that was told of a message, and has not read it, is told once more. */
    readonly remindMs: number
    /** How many woken messages in a row of a thread, and within an hour between two agents, pause the waking. */
    readonly loopTurns: number
    readonly loopPerHour: number
  }
  /** How many agents one message to a group may go to. */
  readonly broadcastMost: number
  /** How many messages an inbox may hold, read or not. */
  readonly inboxQuota: number | undefined
  readonly attachments: {
    /** Whether images become WebP where a message does not say. */
    readonly convert: boolean
    /** Converted images below this size stand in the message itself. */
    readonly inlineBytes: number
    readonly keepOriginals: boolean
    /** Bytes of files that a project may store. */
    readonly quotaBytes: number | undefined
    /** Folders and files that are attached to nothing: the hub's own. */
    readonly closed: readonly string[]
    /** Folders in which files are read though they are of no git repository. */
    readonly roots: readonly string[]
    /** Whether hidden files, keys and files that git ignores are read too. */
    readonly hidden: boolean
  }
}

/** The part of a hub that doors may use too. */
interface Shown {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly metrics: Metrics
  readonly limits: {
    readonly mailboxDepth: number
    /** How often mail is lent before it is dead; 0: it never is. */
    readonly mailboxAttempts: number
    readonly waitMs: number
    /** Calls that may wait at once in this process. */
    readonly waitsPerAgent: number
    readonly waitsTotal: number
    /** Tasks of one agent that may go on at once, in all processes. */
    readonly tasksPerAgent: number
  }
  readonly rules: Rules
  /** Refines summaries, where there is one. */
  readonly llm?: Llm | undefined
  /** Calls tools of other servers, where some are named. */
  readonly remoteTools?: RemoteTools | undefined
  /** Tells which commits messages are in, where there is an archive. */
  readonly archive?: ArchiveView | undefined
}

export interface HubParts extends Shown {
  readonly db: Db
}

/** The key to the inside of a hub. The rooms behind this one ask `reader`, `commit` and `wait` instead. */
export const inside: unique symbol = Symbol('inside')

export interface Hub extends Shown {
  readonly [inside]: Inside
  /** Rejects while the database does not answer or cannot be written; takes the same time however much is in it. */
  ready(): Promise<void>
  /** Ends the wake-ups and closes the database. */
  close(): Promise<void>
}

interface Inside {
  readonly db: Db
  /** The same for those who only look. */
  readonly reading: Reader
  readonly readingLong: Reader
  readonly trouble: Trouble
  readonly wakes: Wakes
  /** Called before the database is closed, in the order in which they came. */
  readonly closers: (() => Promise<void>)[]
  /** How many commits this process has made: work that can wait waits while it grows. */
  commits: number
}

export async function openHub({ db, ...shown }: HubParts): Promise<Hub> {
  const wakes = new Wakes()
  const stopFollowing = await followWakes({ db, log: shown.log }, wakes)
  const trouble = new Trouble(db, shown.log)
  observeDb(db, shown.metrics)
  const kept: Inside = {
    db,
    reading: explained(db, trouble),
    readingLong: explained(db.long, trouble),
    trouble,
    wakes,
    closers: [],
    commits: 0,
  }
  return {
    ...shown,
    [inside]: kept,
    async ready() {
      await trouble.check()
      await findLastChange(kept.reading)
    },
    async close() {
      for (const close of kept.closers) await close()
      await stopFollowing()
      trouble.close()
      await db.close()
    },
  }
}

function observeDb(db: Db, { commits, commitUnits, commitWait, databaseRetries, listenReconnects }: Metrics): void {
  db.observe?.({
    committed(units, waitedMs) {
      commits.inc()
      commitUnits.observe(units)
      commitWait.observe(waitedMs / 1000)
    },
    retried: (kind) => databaseRetries.labels(kind).inc(),
    reconnected: () => listenReconnects.inc(),
  })
}

/** Figures of the database at this moment. */
export const databaseFigures = (hub: Hub): DbFigures => hub[inside].db.figures?.() ?? {}

/** For verbs that only look: what is committed, and no way to write. */
export const reader = (hub: Hub): Reader => hub[inside].reading

/** The same for reads that may take milliseconds. */
export const longReader = (hub: Hub): Reader => hub[inside].readingLong

/** Runs the `look` of a module, in a worker that reads where there is one: only the answer comes back from it. */
export async function lookLong<L extends Look>(
  hub: Hub,
  module: URL,
  wish: Parameters<L>[1],
): Promise<Awaited<ReturnType<L>>> {
  const { db, readingLong, trouble } = hub[inside]
  if (db.long.look === undefined) {
    const { look } = (await import(module.href)) as { look: Look<unknown, Awaited<ReturnType<L>>> }
    return look(readingLong, wish)
  }
  try {
    return await db.long.look(module, wish)
  } catch (error) {
    throw trouble.explain(error)
  }
}

/** For verbs that read for long: everything is of one moment, and nobody waits for them. */
export const snapshot = <T>(hub: Hub, look: (reader: Reader) => Promise<T>): Promise<T> => hub[inside].db.snapshot(look)

export const countCommits = (hub: Hub): number => hub[inside].commits

export const countWaiters = (hub: Hub): number => hub[inside].wakes.size

/** Called when the hub is closed, while it can still be written to. */
export const onClose = (hub: Hub, close: () => Promise<void>): void => {
  hub[inside].closers.push(close)
}

/** Wakes a channel in this process alone, for a change that is no commit. */
export const wakeHere = (hub: Hub, channel: string): void => hub[inside].wakes.wake([channel])

/** Followers look: something may have been committed that nobody announced to this process or thread. */
export const wakeFollowers = (hub: Hub): void => hub[inside].wakes.wake([feedChannel])

/** Calls `fn` with every wake-up channel that starts with `prefix`, and `missed` when some of them may have been lost. */
export const onWake = (hub: Hub, prefix: string, fn: (channel: string) => void, missed: () => void): (() => void) =>
  hub[inside].wakes.onEvery(prefix, fn, missed)
