/** Rows of `cursors`: how far each member has read a thread, and when it was there last. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

export interface CursorRow {
  last_seq: number
  /** Up to here there is nothing but the agent's own messages after last_seq; never less than last_seq. */
  scanned_seq: number
  synced_at: number | null
}

export async function insertCursor(tx: Tx, threadId: number, agentId: number, now: number): Promise<void> {
  await tx.all(sql`
    INSERT INTO cursors (thread_id, agent_id, last_seq, scanned_seq, floor_seq, joined_at)
    VALUES (${threadId}, ${agentId}, 0, 0, 0, ${now})
    ON CONFLICT (thread_id, agent_id) DO NOTHING`)
}

interface CursorMove {
  threadId: number
  agentId: number
  lastSeq: number
  scannedSeq: number
  /** How far the agent itself says it has read, if it does. */
  floorSeq: number | undefined
  syncedAt: number
  waitingUntil: number | undefined
}

export async function updateCursor(tx: Tx, move: CursorMove): Promise<void> {
  const { threadId, agentId, lastSeq, scannedSeq, floorSeq, syncedAt, waitingUntil } = move
  await tx.all(sql`
    UPDATE cursors
    SET last_seq = ${lastSeq}, scanned_seq = ${scannedSeq}, floor_seq = COALESCE(${floorSeq ?? null}, floor_seq),
      synced_at = ${syncedAt}, waiting_until = ${waitingUntil ?? null}
    WHERE thread_id = ${threadId} AND agent_id = ${agentId}`)
}

/**
 * Moves a cursor back from `from` to `to`, also if it has moved on since: reading a message twice is better than never.
 * Never behind a place that the agent itself has acknowledged. The agent counts as waiting no longer.
 */
export async function updateCursorBack(
  tx: Tx,
  { threadId, agentId, from, to }: { threadId: number; agentId: number; from: number; to: number },
): Promise<boolean> {
  const rows = await tx.all(sql`
    UPDATE cursors SET
      last_seq = CASE WHEN floor_seq > ${to} THEN floor_seq ELSE ${to} END,
      scanned_seq = CASE WHEN floor_seq > ${to} THEN floor_seq ELSE ${to} END
    WHERE thread_id = ${threadId} AND agent_id = ${agentId} AND last_seq >= ${from} AND last_seq > floor_seq RETURNING agent_id`)
  return rows.length > 0
}

/** Whether an agent waits in some thread now. */
export async function isWaiting(db: Reader, agentId: number, now: number): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 FROM cursors WHERE agent_id = ${agentId} AND waiting_until > ${now} LIMIT 1`)
  return rows.length > 0
}

export async function updateNotWaiting(tx: Tx, threadId: number, agentId: number): Promise<void> {
  await tx.all(sql`UPDATE cursors SET waiting_until = NULL WHERE thread_id = ${threadId} AND agent_id = ${agentId}`)
}

interface PeerRow {
  name: string
  last_seq: number
  seen_at: number
}

/** The members that synced since `since`, or wait now: the most recent first. */
export function listPeers(
  db: Reader,
  { threadId, since, now, limit }: { threadId: number; since: number; now: number; limit: number },
): Promise<PeerRow[]> {
  return db.all<PeerRow>(sql`
    SELECT name, last_seq, seen_at FROM (
      SELECT a.name, c.last_seq,
        CASE WHEN c.waiting_until IS NULL OR c.waiting_until < c.synced_at THEN c.synced_at
             WHEN c.waiting_until < ${now} THEN c.waiting_until ELSE ${now} END AS seen_at
      FROM cursors c JOIN agents a ON a.id = c.agent_id
      WHERE c.thread_id = ${threadId} AND c.synced_at IS NOT NULL) AS peers
    WHERE seen_at >= ${since} ORDER BY seen_at DESC, name LIMIT ${limit}`)
}
