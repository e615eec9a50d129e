/** Rows of `leases`: which agent reserves which paths, and until when. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { skipLocked } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

export interface LeaseRow {
  id: number
  agent_id: number
  pattern: string
  exclusive: 0 | 1
  reason: string
  created_at: number
  expires_at: number
  released_at: number | null
}

const columns = sql`id, agent_id, pattern, exclusive, reason, created_at, expires_at, released_at`

export interface NamedLeaseRow extends LeaseRow {
  agent: string
}

const named = sql`l.id, l.agent_id, a.name AS agent, l.pattern, l.exclusive, l.reason, l.created_at, l.expires_at, l.released_at`

interface NewLease {
  projectId: number
  agentId: number
  pattern: string
  prefix: string
  exclusive: boolean
  reason: string
  now: number
  expiresAt: number
}

export async function insertLease(tx: Tx, lease: NewLease): Promise<LeaseRow> {
  const { projectId, agentId, pattern, prefix, exclusive, reason, now, expiresAt } = lease
  const [row] = await tx.all<LeaseRow>(sql`
    INSERT INTO leases (project_id, agent_id, pattern, prefix, exclusive, reason, created_at, expires_at)
    VALUES (${projectId}, ${agentId}, ${pattern}, ${prefix}, ${exclusive ? 1 : 0}, ${reason}, ${now}, ${expiresAt})
    RETURNING ${columns}`)
  return row as LeaseRow
}

/**
 * The agent's active lease on the same pattern, kept for longer, never cut short. Whether it is active is asked twice:
 * on PostgreSQL a transaction that waited for a row looks only at the outer condition again.
 */
export async function updateSameLease(tx: Tx, lease: NewLease): Promise<LeaseRow | undefined> {
  const { projectId, agentId, pattern, prefix, exclusive, reason, now, expiresAt } = lease
  const [row] = await tx.all<LeaseRow>(sql`
    UPDATE leases SET
      expires_at = CASE WHEN expires_at > ${expiresAt} THEN expires_at ELSE ${expiresAt} END,
      reason = CASE WHEN ${reason} = '' THEN reason ELSE ${reason} END
    WHERE id = (
      SELECT MAX(id) FROM leases
      WHERE project_id = ${projectId} AND prefix = ${prefix} AND released_at IS NULL
        AND pattern = ${pattern} AND agent_id = ${agentId} AND exclusive = ${exclusive ? 1 : 0} AND +expires_at > ${now})
      AND released_at IS NULL AND expires_at > ${now}
    RETURNING ${columns}`)
  return row
}

/** Which of an agent's active leases: all, or those with one of these ids or patterns. */
interface Chosen {
  agentId: number
  ids: readonly number[] | undefined
  patterns: readonly string[] | undefined
  now: number
}

function chosen({ agentId, ids, patterns, now }: Chosen): Sql {
  const active = sql`agent_id = ${agentId} AND released_at IS NULL AND expires_at > ${now}`
  if (ids === undefined && patterns === undefined) return active
  const any = [
    sql`1 = 0`,
    ...(ids?.length ? [sql`id IN (${join(ids)})`] : []),
    ...(patterns?.length ? [sql`pattern IN (${join(patterns)})`] : []),
  ]
  return sql`${active} AND (${join(any, ' OR ')})`
}

/** Returns the ids. */
export async function updateReleased(tx: Tx, which: Chosen): Promise<number[]> {
  const rows = await tx.all<{ id: number }>(sql`
    UPDATE leases SET released_at = ${which.now} WHERE ${chosen(which)} RETURNING id`)
  return rows.map(({ id }) => id)
}

/** None is made to end later than `latest`, nor sooner than it would. */
export async function updateExtended(
  tx: Tx,
  which: Chosen,
  { by, latest }: { by: number; latest: number },
): Promise<LeaseRow[]> {
  return tx.all<LeaseRow>(sql`
    UPDATE leases SET expires_at = CASE
      WHEN expires_at > ${latest} THEN expires_at WHEN expires_at > ${latest - by} THEN ${latest} ELSE expires_at + ${by} END
    WHERE ${chosen(which)} RETURNING ${columns}`)
}

/** The active leases of an agent, in the order in which they were made. */
export async function listLeasesOf(
  db: Reader,
  { agentId, now, limit }: { agentId: number; now: number; limit: number },
): Promise<LeaseRow[]> {
  return db.all<LeaseRow>(sql`
    SELECT ${columns} FROM leases WHERE agent_id = ${agentId} AND released_at IS NULL AND expires_at > ${now}
    ORDER BY id LIMIT ${limit}`)
}

/** Active leases of a project by their ids or patterns, whoever holds them; by holder, each in the order they were made. */
export async function listActiveCalled(
  db: Reader,
  {
    projectId,
    ids,
    patterns,
    now,
  }: { projectId: number; ids: readonly number[]; patterns: readonly string[]; now: number },
): Promise<NamedLeaseRow[]> {
  const any = [
    ...(ids.length > 0 ? [sql`l.id IN (${join(ids)})`] : []),
    ...(patterns.length > 0 ? [sql`l.pattern IN (${join(patterns)})`] : []),
  ]
  if (any.length === 0) return []
  return db.all<NamedLeaseRow>(sql`
    SELECT ${named} FROM leases l JOIN agents a ON a.id = l.agent_id
    WHERE l.project_id = ${projectId} AND l.released_at IS NULL AND l.expires_at > ${now} AND (${join(any, ' OR ')})
    ORDER BY l.agent_id, l.id`)
}

/**
 * Marks expired leases as released, at the time they expired; returns a row for each, with its project. The due ones are
 * named in front: PostgreSQL would else look for them again and again, and find others each time.
 */
export async function updateExpired(
  tx: Tx,
  now: number,
  limit: number,
): Promise<{ id: number; project_id: number; agent_id: number }[]> {
  return tx.all(sql`
    WITH due AS MATERIALIZED (
      SELECT id FROM leases WHERE released_at IS NULL AND expires_at <= ${now}
      ORDER BY expires_at LIMIT ${limit} ${skipLocked(tx)})
    UPDATE leases SET released_at = expires_at WHERE id IN (SELECT id FROM due)
    RETURNING id, project_id, agent_id`)
}

interface Nearby {
  projectId: number
  /** Not those of this agent. */
  agentId: number
  /** The folders that lead to a path, or all below it. */
  prefix: readonly string[] | { below: string }
  exclusiveOnly: boolean
  now: number
  /** Where the last page ended. */
  after: NearbyRow | undefined
  limit: number
}

export interface NearbyRow {
  id: number
  pattern: string
  prefix: string
}

/**
 * Active leases of others by their prefix: only these can overlap a pattern with that prefix. The plus keeps SQLite from
 * going through all that end later.
 */
export async function listNearby(db: Reader, nearby: Nearby): Promise<NearbyRow[]> {
  const { projectId, agentId, prefix, exclusiveOnly, now, after, limit } = nearby
  const next = after === undefined ? empty : sql`AND (prefix, id) > (${after.prefix}, ${after.id})`
  return db.all<NearbyRow>(sql`
    SELECT id, pattern, prefix FROM leases
    WHERE project_id = ${projectId} AND released_at IS NULL AND ${within(prefix)} ${next}
      AND +expires_at > ${now} AND agent_id <> ${agentId} AND exclusive >= ${exclusiveOnly ? 1 : 0}
    ORDER BY prefix, id LIMIT ${limit}`)
}

/** The column is ordered by bytes (migration 4), and 0 comes right after the slash. */
function within(prefix: Nearby['prefix']): Sql {
  if ('below' in prefix)
    return prefix.below === ''
      ? sql`prefix > ''`
      : sql`prefix > ${`${prefix.below}/`} AND prefix < ${`${prefix.below}0`}`
  return sql`prefix IN (${join(prefix)})`
}

/** In the order in which they were made. */
export async function listLeasesById(db: Reader, ids: readonly number[]): Promise<NamedLeaseRow[]> {
  if (ids.length === 0) return []
  return db.all<NamedLeaseRow>(sql`
    SELECT ${named} FROM leases l JOIN agents a ON a.id = l.agent_id WHERE l.id IN (${join(ids)}) ORDER BY l.id`)
}

/** The patterns that an agent holds now. */
export async function listHeld(
  db: Reader,
  agentId: number,
  now: number,
): Promise<{ project_id: number; pattern: string; prefix: string }[]> {
  return db.all(sql`
    SELECT project_id, pattern, prefix FROM leases
    WHERE agent_id = ${agentId} AND released_at IS NULL AND expires_at > ${now}`)
}

interface Listing {
  projectId: number
  /** Only those that are active at this time. */
  activeAt: number | undefined
  /** Only those of this agent. */
  agentId?: number | undefined
  /** Only those made before this one. */
  before: number | undefined
  limit: number
}

/** The newest first. The plus keeps both engines from sorting all that are active: those past are put away soon. */
export async function listLeases(
  db: Reader,
  { projectId, activeAt, agentId, before, limit }: Listing,
): Promise<NamedLeaseRow[]> {
  const active = activeAt === undefined ? empty : sql`AND l.released_at IS NULL AND +l.expires_at > ${activeAt}`
  const older = before === undefined ? empty : sql`AND l.id < ${before}`
  return db.all<NamedLeaseRow>(sql`
    SELECT ${named} FROM leases l JOIN agents a ON a.id = l.agent_id
    WHERE ${agentId === undefined ? sql`l.project_id = ${projectId}` : sql`l.agent_id = ${agentId}`} ${active} ${older}
    ORDER BY l.id DESC LIMIT ${limit}`)
}

/** Active now, but not at `until`: the next to expire first. */
export async function listExpiring(
  db: Reader,
  { projectId, now, until, limit }: { projectId: number; now: number; until: number; limit: number },
): Promise<NamedLeaseRow[]> {
  return db.all<NamedLeaseRow>(sql`
    SELECT ${named} FROM leases l JOIN agents a ON a.id = l.agent_id
    WHERE l.project_id = ${projectId} AND l.released_at IS NULL AND l.expires_at > ${now} AND l.expires_at <= ${until}
    ORDER BY l.expires_at, l.id LIMIT ${limit}`)
}

/** All that hold now and exclude others, with the names of their holders: the oldest first. */
export async function listExclusive(db: Reader, projectId: number, now: number): Promise<NamedLeaseRow[]> {
  return db.all<NamedLeaseRow>(sql`
    SELECT ${named} FROM leases l JOIN agents a ON a.id = l.agent_id
    WHERE l.project_id = ${projectId} AND l.released_at IS NULL AND l.exclusive = 1 AND +l.expires_at > ${now} ORDER BY l.id`)
}

/** The ids of an agent's newest leases. */
export async function listAgentLeases(db: Reader, agentId: number, limit: number): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT id FROM leases WHERE project_id = (SELECT project_id FROM agents WHERE id = ${agentId}) AND agent_id = ${agentId}
    ORDER BY id DESC LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}
