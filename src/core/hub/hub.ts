/** The hub: the database, the clock, the limits and the wake-ups that every verb works with. */
import type { Clock } from '../../base/clock.ts'
import type { HubError } from '../../base/errors.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Db } from '../../db/port.ts'
import type { Llm } from '../../llm/llm.ts'
import { findLastChange } from '../../store/changes.ts'
import { type Activity, keepActivity } from '../agents/activity.ts'
import type { Agent } from '../agents/agents.ts'
import type { Counted } from '../messages/quota.ts'
import type { Project } from '../projects/projects.ts'
import type { Digested } from '../threads/digests.ts'
import { followChanges } from './feed.ts'
import { Wakes } from './wakes.ts'

/** What whoever runs Parley has settled for all agents. */
export interface Rules {
  readonly contacts: {
    /** Whether policies are asked at all. */
    readonly enforced: boolean
    /** How long a contact lasts that was made by itself, and how long a message counts as recent contact. */
    readonly autoMs: number
    /** Whether contact is made by itself where a policy wants it first. */
    readonly handshake: boolean
    /** Whether the send goes on once contact was made so. */
    readonly retry: boolean
  }
  /** Whether mail to a name that nobody has makes that agent, at doors where one registers first. */
  readonly makeRecipients: boolean
  readonly names: 'strict' | 'coerce' | 'always_auto'
  /** How many messages an inbox may hold, read or not. */
  readonly inboxQuota: number | undefined
}

export interface HubParts {
  readonly db: Db
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly metrics: Metrics
  readonly limits: { readonly mailboxDepth: number; readonly waitMs: number }
  readonly rules: Rules
  /** Refines summaries, where there is one. */
  readonly llm?: Llm | undefined
}

export interface Hub extends HubParts {
  readonly wakes: Wakes
  /** Agents and projects seen before. They are never renamed, so that what is here stays true. */
  readonly known: {
    readonly agents: Map<string, Agent>
    readonly projects: Map<string, Project>
    readonly slugs: Map<number, string>
  }
  /** When agents were last active, as far as the database does not know it yet. */
  readonly activity: Activity
  /** Agents that were given mail when they last asked. A guess that only saves work. */
  readonly fruitful: Set<number>
  /** How full the inboxes were when they were last counted. */
  readonly counted: Map<number, Counted>
  /** The summaries of threads that were made last, the newest at the end. */
  readonly digests: Map<string, Digested>
  /** How many commits this process has made: work that can wait waits while it grows. */
  readonly pulse: { commits: number }
  /** What went wrong with the last write, if it was the storage's fault. */
  readonly trouble: { storage: HubError | undefined }
  /** Rejects while the database does not answer or cannot be written; takes the same time however much is in it. */
  ready(): Promise<void>
  /** Ends the wake-ups and closes the database. */
  close(): Promise<void>
}

export async function openHub(parts: HubParts): Promise<Hub> {
  const wakes = new Wakes()
  const trouble: Hub['trouble'] = { storage: undefined }
  const unfollow = await followChanges(parts, wakes)
  const activity = keepActivity(() => hub)
  const hub: Hub = {
    ...parts,
    activity,
    wakes,
    known: { agents: new Map(), projects: new Map(), slugs: new Map() },
    fruitful: new Set(),
    counted: new Map(),
    digests: new Map(),
    pulse: { commits: 0 },
    trouble,
    async ready() {
      if (trouble.storage !== undefined) throw trouble.storage
      await findLastChange(parts.db)
    },
    async close() {
      await activity.close()
      await unfollow()
      await parts.db.close()
    },
  }
  return hub
}

/** Remembers at most some thousand: past that it is cheaper to ask again than to grow. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  if (map.size >= 10_000) map.clear()
  map.set(key, value)
  return value
}
