/** Rows of `announcements`: unread mail that an agent was told of. */
import sql, { empty, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { sharedName } from '../visibility.ts'
import { fromUnread } from './boxes.ts'

/** Mail of these threads and senders wakes nobody now. */
export interface HeldWakes {
  readonly threadIds: readonly number[]
  readonly senderIds: readonly number[]
}

/** The terms on which mail may be announced now. */
export interface AnnounceTerms {
  readonly agentId: number
  readonly now: number
  /** Announced before this time and not confirmed, it is free again. */
  readonly unconfirmedBefore: number
  /** Confirmed, or announced for the last time, before this time and still unread, it is told once more; 0 where a route does not remind. */
  readonly confirmedBefore: number
  readonly mostTries: number
  readonly held?: HeldWakes | undefined
}

/** A message whose text went out is known to its agent; one that has expired wakes nobody. */
const wanted = (db: Reader, { now, held }: AnnounceTerms): Sql =>
  sql`AND d.delivered_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > ${now}) ${notHeld(db, held)}`

/** A client that has it on loan knows of it too. */
const unseen = (db: Reader, terms: AnnounceTerms): Sql =>
  sql`${wanted(db, terms)} AND (d.held_until IS NULL OR d.held_until <= ${terms.now})`

export const notHeld = (db: Reader, held: HeldWakes | undefined): Sql =>
  held === undefined
    ? empty
    : sql`AND NOT EXISTS (SELECT 1 FROM messages h WHERE h.id = d.message_id
        AND (h.thread_id IN ${listed(db, held.threadIds)} OR h.sender_id IN ${listed(db, held.senderIds)}))`

const isFree = ({ unconfirmedBefore, confirmedBefore, mostTries }: AnnounceTerms): Sql => sql`
  (announcements.confirmed_at IS NULL AND announcements.announced_at <= ${unconfirmedBefore} AND announcements.tries < ${mostTries})
  OR (announcements.reminded = 0 AND ${confirmedBefore} >= COALESCE(announcements.confirmed_at,
    CASE WHEN announcements.tries >= ${mostTries} THEN announcements.announced_at END))`

/** Whether there is mail to announce. Asked by a reader: an agent that knows of all its mail costs no write. */
export async function hasUnannounced(db: Reader, terms: AnnounceTerms): Promise<boolean> {
  const { agentId } = terms
  const rows = await db.all(sql`
    SELECT 1 FROM (${fromUnread(db, sql`d.id`, { recipientId: agentId, where: unseen(db, terms) })}) AS unread
    LEFT JOIN announcements ON announcements.delivery_id = unread.id
    WHERE announcements.delivery_id IS NULL OR ${isFree(terms)} LIMIT 1`)
  return rows.length > 0
}

export interface AnnouncedRow {
  delivery_id: number
  message_id: number
  sender: string
  sender_project: number
  thread: string | null
  importance: 'low' | 'normal' | 'high' | 'urgent'
  created_at: number
}

/**
 * Takes what is free, the oldest first. The conflict decides between two routes that take at once: the second finds the row taken
 * a moment ago, and not free.
 */
export async function claimAnnouncements(
  tx: Tx,
  terms: AnnounceTerms & { session: string; via: string; limit: number },
): Promise<number[]> {
  const { agentId, now, session, via, limit } = terms
  const rows = await tx.all<{ delivery_id: number }>(sql`
    INSERT INTO announcements (delivery_id, agent_id, session, via, announced_at, tries)
    SELECT free.id, CAST(${agentId} AS BIGINT), CAST(${session} AS TEXT), CAST(${via} AS TEXT), CAST(${now} AS BIGINT), 1
    FROM (SELECT unread.id FROM (${fromUnread(tx, sql`d.id`, { recipientId: agentId, where: unseen(tx, terms) })}) AS unread
      LEFT JOIN announcements ON announcements.delivery_id = unread.id
      WHERE announcements.delivery_id IS NULL OR ${isFree(terms)} ORDER BY unread.id LIMIT ${limit}) AS free WHERE TRUE
    ON CONFLICT (delivery_id) DO UPDATE SET session = excluded.session, via = excluded.via, announced_at = excluded.announced_at,
      tries = announcements.tries + 1, confirmed_at = NULL,
      reminded = CASE WHEN announcements.confirmed_at IS NULL AND announcements.tries < ${terms.mostTries} THEN announcements.reminded ELSE 1 END
    WHERE ${isFree(terms)}
    RETURNING delivery_id`)
  return rows.map(({ delivery_id }) => delivery_id)
}

/** Takes one delivery, if it is free or the same session has it already. */
export async function claimAnnouncement(
  tx: Tx,
  terms: AnnounceTerms & { deliveryId: number; session: string; via: string },
): Promise<boolean> {
  const { deliveryId, agentId, now, session, via } = terms
  const taken = await tx.change(sql`
    INSERT INTO announcements (delivery_id, agent_id, session, via, announced_at, tries)
    VALUES (${deliveryId}, ${agentId}, ${session}, ${via}, ${now}, 1)
    ON CONFLICT (delivery_id) DO UPDATE SET session = excluded.session, via = excluded.via, announced_at = excluded.announced_at,
      tries = announcements.tries + 1, confirmed_at = NULL,
      reminded = CASE WHEN announcements.confirmed_at IS NULL THEN announcements.reminded ELSE 1 END
    WHERE announcements.session = ${session} OR ${isFree(terms)}`)
  return taken > 0
}

/** A pointer to these messages was accepted by a route. */
export async function updateOffered(tx: Tx, ids: readonly number[], now: number, via: string): Promise<void> {
  await tx.change(sql`
    UPDATE deliveries SET offered_at = ${now}, offered_via = ${via} WHERE id IN ${listed(tx, ids)} AND read_at IS NULL`)
}

/**
 * The facts of those that are unread, without a word that the sender has chosen but its names. On PostgreSQL a claim may have begun before
 * another route announced a message, its agent read it, and the announcement was swept: then nothing was in its way.
 */
export function listAnnounced(db: Reader, ids: readonly number[]): Promise<AnnouncedRow[]> {
  return db.all<AnnouncedRow>(sql`
    SELECT d.id AS delivery_id, m.id AS message_id, a.name AS sender, a.project_id AS sender_project, ${sharedName} AS thread,
      m.importance, m.created_at
    FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE d.id IN ${listed(db, ids)} AND d.read_at IS NULL ORDER BY d.id`)
}

interface Taken {
  readonly ids: readonly number[]
  readonly announcedAt: number
  readonly mostTries: number
}

/** The pointer never reached its client: its messages are free, and this time does not count. Those of an earlier time keep their row. */
export async function updateReturned(tx: Tx, { ids, announcedAt, mostTries }: Taken): Promise<number> {
  const taken = sql`delivery_id IN ${listed(tx, ids)} AND announced_at = ${announcedAt} AND confirmed_at IS NULL`
  await tx.change(sql`
    UPDATE deliveries SET offered_at = NULL, offered_via = NULL
    WHERE offered_at = ${announcedAt} AND id IN (SELECT delivery_id FROM announcements WHERE ${taken} AND tries = 1)`)
  const gone = await tx.change(sql`DELETE FROM announcements WHERE ${taken} AND tries = 1`)
  const again = await tx.change(sql`
    UPDATE announcements SET announced_at = 0, tries = CASE WHEN tries > ${mostTries} THEN ${mostTries} ELSE tries END - 1
    WHERE ${taken}`)
  return gone + again
}

interface OfSession {
  readonly agentId: number
  readonly session: string
}

/** Announcements that a session has taken and nobody has confirmed. */
export const listUnconfirmed = (
  db: Reader,
  { agentId, session, via }: OfSession & { via: string },
): Promise<{ delivery_id: number; announced_at: number }[]> =>
  db.all(sql`
    SELECT delivery_id, announced_at FROM announcements
    WHERE agent_id = ${agentId} AND session = ${session} AND via = ${via} AND confirmed_at IS NULL AND announced_at > 0`)

/** The session knows of all that it was told; with `ids`, of these. Returns the route of each announcement that this confirms. */
export async function updateConfirmed(
  tx: Tx,
  { agentId, session, now, ids }: OfSession & { now: number; ids?: readonly number[] },
): Promise<string[]> {
  const rows = await tx.all<{ via: string }>(sql`
    UPDATE announcements SET confirmed_at = ${now}
    WHERE agent_id = ${agentId} AND session = ${session} AND confirmed_at IS NULL
      ${ids === undefined ? empty : sql`AND delivery_id IN ${listed(tx, ids)}`} RETURNING via`)
  return rows.map(({ via }) => via)
}

/** When the next message is free without anybody's doing: its announcement was not confirmed, or its loan is over. */
export async function findNextFree(
  db: Reader,
  { terms, confirmMs }: { terms: AnnounceTerms; confirmMs: number },
): Promise<number | undefined> {
  const { agentId, now, mostTries } = terms
  const [row] = await db.all<{ at: number | null }>(sql`
    SELECT MIN(CASE WHEN d.held_until > n.announced_at + ${confirmMs} THEN d.held_until ELSE n.announced_at + ${confirmMs} END) AS at
    FROM announcements n JOIN deliveries d ON d.id = n.delivery_id
    WHERE n.agent_id = ${agentId} AND n.confirmed_at IS NULL AND n.tries < ${mostTries} AND d.read_at IS NULL ${wanted(db, terms)}`)
  const [lent] = await db.all<{ at: number | null }>(sql`
    SELECT MIN(held_until) AS at FROM (${fromUnread(db, sql`d.held_until`, {
      recipientId: agentId,
      where: sql`AND d.held_until > ${now} ${wanted(db, terms)} AND NOT EXISTS (SELECT 1 FROM announcements n WHERE n.delivery_id = d.id)`,
    })}) AS lent`)
  const times = [row?.at, lent?.at].filter((at) => at !== null && at !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Announcements of mail that was read or is gone. */
export async function deleteSettled(tx: Tx, agentId: number): Promise<void> {
  await tx.change(sql`
    DELETE FROM announcements WHERE agent_id = ${agentId} AND NOT EXISTS (
      SELECT 1 FROM deliveries d WHERE d.id = announcements.delivery_id AND d.read_at IS NULL)`)
}
