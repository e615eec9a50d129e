/** Writers whose transactions a test interleaves by hand, and a follower that notes what it was handed. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import type { Projection } from '../../src/core/feed/projections.ts'
import { stepProjection } from '../../src/core/feed/projections.ts'
import { type Hub, inside } from '../../src/core/hub/hub.ts'
import type { Db, Tx } from '../../src/db/port.ts'
import { insertChanges, type Recorded } from '../../src/store/feed/changes.ts'
import { feedOrder } from '../../src/store/feed/positions.ts'

/** The n-th change of a writer; it has run when this ends. */
export async function write(tx: Tx, actor: string, n: number): Promise<void> {
  insertChanges(tx, [{ kind: 'agent.updated', projectId: 1, agentId: n }], { actor, now: n })
  await tx.all(sql`SELECT 1`)
}

export const named = ({ actor, ...change }: Recorded): string =>
  `${actor}${'agentId' in change ? change.agentId : change.kind}`

/** A transaction that stays open until it is told how to end. Of SQLite's there is one at a time. */
export async function openTx(db: Db) {
  const [opened, end] = [Promise.withResolvers<Tx>(), Promise.withResolvers<void>()]
  const ended = db.tx(async (tx) => {
    opened.resolve(tx)
    await end.promise
  })
  return {
    tx: await opened.promise,
    async commit() {
      end.resolve()
      await ended
    },
    async rollback() {
      end.reject(new Error('rolled back'))
      await ended.catch(() => {})
    },
  }
}

/** Keeps what it was handed in a table of its own, in the same commit; a rebuild leaves a mark there. */
export async function noting(db: Db, name = 'noting') {
  await db.tx((tx) => tx.all(sql`CREATE TABLE IF NOT EXISTS noted (n BIGINT PRIMARY KEY, what TEXT NOT NULL)`))
  const note = async (tx: Tx, what: string) => {
    await tx.all(sql`INSERT INTO noted (n, what) SELECT COUNT(*), ${what} FROM noted`)
  }
  const follower: Projection = {
    name,
    async take(tx, changes) {
      for (const change of changes) await note(tx, named(change))
    },
    rebuild: (tx) => note(tx, 'rebuilt'),
  }
  return {
    follower,
    noted: async () => (await db.all<{ what: string }>(sql`SELECT what FROM noted ORDER BY n`)).map(({ what }) => what),
  }
}

/** Resolves once a follower may see all that is committed. */
export async function nothingHidden({ [inside]: { db } }: Hub): Promise<void> {
  const behind = sql`SELECT 1 FROM changes WHERE NOT (${feedOrder(db).settled}) LIMIT 1`
  await expect.poll(() => db.all(behind), { interval: 5, timeout: 20_000 }).toEqual([])
}

/** Steps until nothing is left, also nothing that an open transaction hides. */
export async function catchUp(hub: Hub, follower: Projection): Promise<void> {
  await nothingHidden(hub)
  while ((await stepProjection(hub, follower)) !== 'done');
}

export const dbOf = (hub: Hub): Db => hub[inside].db
