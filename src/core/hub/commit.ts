/** The one place that opens a write transaction: store calls, their changes, COMMIT, and only then the wake-ups. */

import { HubError } from '../../base/errors.ts'
import { inBriefSpan, inSpan, inThisTrace, isTraced } from '../../base/tracing.ts'
import { can, standbyMark } from '../../db/dialect.ts'
import { faultName, isFault, Unsure } from '../../db/faults.ts'
import type { Tx, TxOptions } from '../../db/port.ts'
import { type Change, insertChanges } from '../../store/feed/changes.ts'
import { type Hub, inside, reader } from './hub.ts'
import { feedChannel } from './wakes.ts'

/** The author of a change, as the feed names it. */
export interface Actor {
  readonly key: string
  /** It may look, and writes nothing: every write comes by here (access.roles.reads). */
  readonly readOnly?: boolean
}

export const readOnlyRefusal = (): HubError =>
  new HubError('FORBIDDEN', 'Your token may only read: it may not write.', {
    reason: 'only_reads',
    hint: 'Ask its issuer for a token with the role of a writer (the scope parley:write).',
  })

/** Parley itself: housekeeping and projections. */
export const itself: Actor = { key: 'hub' }

/** Notes a change, with the channels that it wakes. `recorded`: a statement of the work has put it into the feed. */
export type Note = (change: Change, recorded?: 'recorded') => void

const attempts = 5

/** Thrown by work that finds what it has read changed by another writer, which only PostgreSQL has: the work runs again. */
export class LostRace extends Error {}

/** `repeatable`: it is done again if the power goes. `idempotent`: it does nothing twice. */
type CommitOptions = Pick<TxOptions, 'repeatable' | 'idempotent'>

type Work<T> = (tx: Tx, note: Note) => Promise<T>

/** Runs `work` in a transaction. It runs again where another was first to write a unique row: then it finds that row. */
export const commit = <T>(hub: Hub, by: Actor, work: Work<T>, options?: CommitOptions): Promise<T> =>
  isTraced() ? commitTraced(hub, by, work, options) : commitNow(hub, by, work, options)

/** The writer runs the units of many calls in a row: each of them in its own trace. */
const commitTraced = <T>(hub: Hub, by: Actor, work: Work<T>, options?: CommitOptions): Promise<T> =>
  inSpan('commit', (span) => {
    const ran = (units: number, waitedMs: number) =>
      span?.note({ 'parley.commit.units': units, 'parley.commit.waited_ms': waitedMs })
    return commitNow(hub, by, inThisTrace(work), { ...options, ran })
  })

async function commitNow<T>(hub: Hub, by: Actor, work: Work<T>, options?: TxOptions): Promise<T> {
  if (by.readOnly) throw readOnlyRefusal()
  for (let attempt = 1; ; attempt++) {
    let changes: Change[] = []
    try {
      const value = await hub[inside].db.tx(async (tx) => {
        changes = []
        const due: Change[] = []
        const value = await work(tx, (change, recorded) => {
          changes.push(change)
          if (recorded === undefined) due.push(change)
        })
        if (due.length === 0) return value
        insertChanges(tx, due, { actor: by.key, now: hub.clock.now() })
        // Elsewhere the transaction of a waiter would not see it yet.
        if (can(tx).sharedTransactions) hub[inside].wakes.wakeBeforeCommit(channelsOf(changes))
        return value
      }, options)
      hub[inside].trouble.over()
      hub[inside].commits++
      if (isTraced()) publishTraced(hub, changes)
      else publish(hub, changes)
      return value
    } catch (error) {
      if (attempt < attempts && (error instanceof LostRace || isFault(error, 'unique'))) {
        hub.metrics.databaseRetries.labels('race').inc()
        continue
      }
      // It may be saved: then those who wait for it find it.
      if (error instanceof Unsure) publish(hub, changes)
      const kind = faultName(error)
      if (kind !== undefined) hub.metrics.databaseErrors.labels(kind).inc()
      throw hub[inside].trouble.explain(error)
    }
  }
}

/** Resolves once all that was committed before is wherever a commit has to be: what another look has found may be on one server alone. */
export async function reachStandby(hub: Hub): Promise<void> {
  const mark = standbyMark(reader(hub))
  if (mark !== undefined) await commit(hub, itself, (tx) => tx.all(mark), { idempotent: true })
}

function channelsOf(changes: readonly Change[]): Set<string> {
  const channels = new Set<string>()
  for (const { wakes = [] } of changes) for (const channel of wakes) channels.add(channel)
  return channels
}

const publishTraced = (hub: Hub, changes: readonly Change[]): void =>
  inBriefSpan('wake', () => publish(hub, changes), { 'parley.wake.channels': channelsOf(changes).size })

function publish(hub: Hub, changes: readonly Change[]): void {
  if (changes.length === 0) return
  const channels = channelsOf(changes)
  const { wakes, db } = hub[inside]
  wakes.wake(channels.size === 0 ? [feedChannel] : channels)
  hub.metrics.wakes.inc(channels.size)
  // Nobody waits for the others elsewhere: a NOTIFY for each `take` would wake every node, and followers look once a minute.
  if (channels.size > 0) db.announce([...channels])
}
