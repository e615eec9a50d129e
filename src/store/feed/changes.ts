/** The append-only feed of what was committed: wake-ups, projections and the audit log read it. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'
import { pruning } from './followers.ts'
import { type FeedPosition, feedOrder, start } from './positions.ts'

/** Everything that can happen, each with the ids that a follower needs to look it up. */
export type Event =
  | {
      kind: 'project.created' | 'project.linked' | 'project.unlinked' | 'project.merged' | 'project.renamed'
      projectId: number
    }
  | {
      kind: 'agent.created' | 'agent.updated' | 'agent.policy' | 'agent.keyed' | 'agent.revoked'
      projectId: number
      agentId: number
    }
  | {
      /** To somebody, or in a topic. The agent wrote it; the project is the agent's, or the topic's. */
      kind: 'message.sent' | 'message.said'
      projectId: number
      agentId: number
      threadId: number
      messageId: number
    }
  | {
      /** Shared mail left this agent: it went to another one of its role. */
      kind: 'message.passed'
      projectId: number
      agentId: number
      threadId: number
      messageId: number
    }
  | {
      /** The agent's own step with a message that it received. */
      kind:
        | 'mail.taken'
        | 'mail.lent'
        | 'mail.returned'
        | 'mail.read'
        | 'mail.acknowledged'
        | 'mail.expired'
        | 'mail.dead'
        | 'mail.dropped'
      projectId: number
      agentId: number
      messageId: number
    }
  | {
      /** The agent is the one who was asked. */
      kind: 'contact.requested' | 'contact.approved' | 'contact.denied'
      projectId: number
      agentId: number
      contactId: number
    }
  | {
      kind: 'lease.granted' | 'lease.renewed' | 'lease.released' | 'lease.expired'
      projectId: number
      agentId: number
      leaseId: number
    }
  | {
      kind: 'topic.created' | 'topic.closed' | 'topic.reopened' | 'topic.renamed' | 'topic.deleted'
      projectId: number
      threadId: number
    }
  | {
      /** Old mail of a project was moved out of Parley. `detail`: JSON for the archive, which cannot ask rows that are gone. */
      kind: 'mail.retired'
      projectId: number
      detail: string
    }
  | { kind: 'topic.joined' | 'cursor.reset' | 'cursor.returned'; projectId: number; threadId: number; agentId: number }
  | { kind: 'grant.created' | 'grant.revoked'; projectId: number; threadId: number; agentId: number }
  | { kind: 'session.ended' | 'session.followed' | 'task.created' | 'task.ended' }
  | { kind: 'presence.changed'; projectId: number }
  | { kind: 'server.granted'; projectId: number; agentId: number }
  | { kind: 'server.revoked'; agentId: number }

/** An event as the feed has it: its place, when it was committed, and the key of whoever did it. */
export type Recorded = Event & FeedPosition & { readonly at: number; readonly actor: string }

/** An event, and the wake-up channels of those who wait for it. `actor`: its author, where that is not the caller. */
export type Change = Event & { wakes?: readonly string[]; actor?: string }

interface Columns {
  kind: Event['kind']
  projectId?: number
  agentId?: number
  threadId?: number
  messageId?: number
  leaseId?: number
  contactId?: number
}

/** Rows begin and end with a value: joining them makes no new texts, and the statement is found by those it was made of (2.6 → 1.1 µs). */
export function insertChanges(
  tx: Tx,
  changes: readonly Change[],
  { actor, now }: { actor: string; now: number },
): void {
  const rows = changes.map((change) => {
    const { wakes = [], actor: author = actor } = change
    const { kind, projectId, agentId, threadId, messageId, leaseId, contactId }: Columns = change
    return sql`${now}, ${author}, ${kind}, ${projectId ?? null}, ${agentId ?? null}, ${threadId ?? null}, ${messageId ?? null},
      ${leaseId ?? null}, ${contactId ?? null}, ${wakes.join(' ')}`
  })
  for (let at = 0; at < rows.length; at += rowsPerStatement)
    tx.enqueue(sql`
      INSERT INTO changes (at, actor, kind, project_id, agent_id, thread_id, message_id, lease_id, contact_id, wakes)
      VALUES (${join(rows.slice(at, at + rowsPerStatement), '), (')})`)
}

/** A change with a detail, which few have: the statement above stays the same for all others. */
export function insertDetailed(
  tx: Tx,
  { kind, projectId, detail }: Extract<Event, { detail: string }>,
  { actor, now }: { actor: string; now: number },
): void {
  tx.enqueue(sql`
    INSERT INTO changes (at, actor, kind, project_id, wakes, detail)
    VALUES (${now}, ${actor}, ${kind}, ${projectId}, '', ${detail})`)
}

/** The same from a SELECT of these columns, for a statement that commits itself and takes its own ids. */
export const insertChangesFrom = (select: Sql): Sql => sql`
  INSERT INTO changes (at, actor, kind, project_id, agent_id, thread_id, message_id, wakes) ${select}`

/** An import has more of them than one statement takes values. */
const rowsPerStatement = 1000

/** The last change and its time: by it the driver of SQLite keeps the number beside the file. */
export const lastChange: Sql = sql`SELECT id, at FROM changes ORDER BY id DESC LIMIT 1`

export async function findLastChange(db: Reader): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(sql`SELECT MAX(id) AS id FROM changes`)
  return row?.id ?? 0
}

/** Where the feed ends: what is committed later comes after it. */
export async function findEnd(db: Reader): Promise<FeedPosition> {
  const [row] = await db.all<FeedPosition>(feedOrder(db).end)
  return row ?? start
}

/** The same, with a text that is the same while nothing changes. */
export async function findMarkedEnd(db: Reader): Promise<FeedPosition & { readonly mark: string }> {
  const { end, mark } = feedOrder(db)
  const [row] = await db.all<FeedPosition & { mark: string }>(
    sql`SELECT e.tx, e.id, ${mark} AS mark FROM (${end}) AS e`,
  )
  return row ?? { ...start, mark: '' }
}

/** In order. What an older transaction may still come before is left out, until that has ended. */
export async function listChangesAfter(db: Reader, place: FeedPosition, limit: number): Promise<Recorded[]> {
  const { columns, after, settled } = feedOrder(db)
  return listRecorded(db, sql`${after(place)} AND ${settled} ORDER BY ${columns} LIMIT ${limit}`)
}

/** A change as live views read it. */
export interface FeedRow extends FeedPosition {
  kind: string
  project_id: number | null
  agent_id: number | null
  thread_id: number | null
  message_id: number | null
  /** The channels that it wakes, parted by spaces. */
  wakes: string
  /** 0: an older transaction may still come before it. */
  settled: number
}

export function feedColumns(db: Reader): Sql {
  const { tx, settled } = feedOrder(db)
  return sql`id, ${tx} AS tx, kind, project_id, agent_id, thread_id, message_id, wakes, CASE WHEN ${settled} THEN 1 ELSE 0 END AS settled`
}

/** In order, and settled ones first: none of these comes after one that is not. */
export function listFeedAfter(db: Reader, position: FeedPosition, limit: number): Promise<FeedRow[]> {
  const { columns, after } = feedOrder(db)
  return db.all<FeedRow>(
    sql`SELECT ${feedColumns(db)} FROM changes WHERE ${after(position)} ORDER BY ${columns} LIMIT ${limit}`,
  )
}

/** All there are after a place, in any order: also those that a follower may not see yet. */
export const listPending = (db: Reader, place: FeedPosition): Promise<Recorded[]> =>
  listRecorded(db, feedOrder(db).after(place))

async function listRecorded(db: Reader, which: Sql): Promise<Recorded[]> {
  const rows = await db.all<Recorded>(sql`
    SELECT id, ${feedOrder(db).tx} AS tx, at, actor, kind, project_id AS "projectId", agent_id AS "agentId",
      thread_id AS "threadId", message_id AS "messageId", lease_id AS "leaseId", contact_id AS "contactId", detail
    FROM changes WHERE ${which}`)
  return rows.map(withoutNulls)
}

/** The columns that its kind has: `insertChanges` writes them from the same union. */
function withoutNulls<Row extends object>(row: Row): Row {
  const kept: Partial<Row> = {}
  for (const key in row) if (row[key] !== null) kept[key] = row[key]
  return kept as Row
}

/** Whether there are changes after a place, also such as are left out of the list as yet. */
export async function hasChangesAfter(db: Reader, place: FeedPosition): Promise<boolean> {
  const rows = await db.all(sql`SELECT id FROM changes WHERE ${feedOrder(db).after(place)} LIMIT 1`)
  return rows.length > 0
}

export async function deleteChanges(
  tx: Tx,
  { after, upTo }: { after: FeedPosition; upTo: FeedPosition },
): Promise<void> {
  const order = feedOrder(tx)
  await tx.all(sql`DELETE FROM changes WHERE ${order.after(after)} AND ${order.upTo(upTo)}`)
}

/**
 * Changes of another server would stay hidden until this one has counted as far, and hold up every follower before them.
 * Where there were any, this server may have passed the watermark of a follower by chance: all of them begin anew.
 */
export async function deleteForeign(tx: Tx): Promise<void> {
  const { foreign } = feedOrder(tx)
  const [found] = await tx.all(sql`SELECT id FROM changes WHERE ${foreign} LIMIT 1`)
  const others = found === undefined ? empty : sql`OR name <> ${pruning}`
  await tx.all(sql`DELETE FROM changes WHERE ${foreign}`)
  await tx.all(sql`DELETE FROM followers WHERE ${foreign} ${others}`)
}

/** The changes committed after `id`. On SQLite the ids are in the order of the commits: there is one writer at a time. */
export async function listWakesAfter(db: Reader, id: number, limit: number): Promise<{ id: number; wakes: string }[]> {
  return db.all<{ id: number; wakes: string }>(sql`
    SELECT id, wakes FROM changes WHERE id > ${id} ORDER BY id LIMIT ${limit}`)
}
