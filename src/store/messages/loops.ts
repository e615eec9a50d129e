/** Rows of the loop guard: `woken_agents`, `loop_threads`, `loop_pairs`, and `hops` of messages. */
import sql, { join } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { threadName } from '../visibility.ts'

export const listWoken = (db: Reader): Promise<{ agent_id: number; since: number }[]> =>
  db.all<{ agent_id: number; since: number }>(sql`SELECT agent_id, since FROM woken_agents`)

export async function upsertWoken(tx: Tx, agentId: number, now: number): Promise<void> {
  await tx.change(sql`
    INSERT INTO woken_agents (agent_id, since) VALUES (${agentId}, ${now})
    ON CONFLICT (agent_id) DO UPDATE SET since = excluded.since`)
}

export async function deleteWoken(tx: Tx, agentId: number): Promise<void> {
  await tx.change(sql`DELETE FROM woken_agents WHERE agent_id = ${agentId}`)
}

interface PausedPairRow {
  low_id: number
  high_id: number
  low: string
  high: string
  /** The project of the first. */
  project_id: number
  paused_at: number
}

interface PausedThreadRow {
  thread_id: number
  called: string
  project_id: number
  paused_at: number
}

export const listPausedThreads = (db: Reader): Promise<PausedThreadRow[]> =>
  db.all<PausedThreadRow>(sql`
    SELECT l.thread_id, ${threadName} AS called, t.project_id, l.paused_at
    FROM loop_threads l JOIN threads t ON t.id = l.thread_id WHERE l.paused_at IS NOT NULL`)

export const listPausedPairs = (db: Reader): Promise<PausedPairRow[]> =>
  db.all<PausedPairRow>(sql`
    SELECT l.low_id, l.high_id, a.name AS low, b.name AS high, a.project_id, l.paused_at
    FROM loop_pairs l JOIN agents a ON a.id = l.low_id JOIN agents b ON b.id = l.high_id WHERE l.paused_at IS NOT NULL`)

/** Marks a woken message with its place in the chain, which is returned with whether its thread is paused. */
export async function updateHops(
  tx: Tx,
  { threadId, messageId, seq }: { threadId: number; messageId: number; seq: number },
): Promise<{ hops: number; paused: boolean }> {
  const [before] = await tx.all<{ hops: number }>(
    sql`SELECT hops FROM messages WHERE thread_id = ${threadId} AND seq = ${seq - 1}`,
  )
  const [row] = await tx.all<{ from_seq: number; paused_at: number | null }>(
    sql`SELECT from_seq, paused_at FROM loop_threads WHERE thread_id = ${threadId}`,
  )
  const hops = Math.min((before?.hops ?? 0) + 1, seq - (row?.from_seq ?? 0))
  await tx.change(sql`UPDATE messages SET hops = ${hops} WHERE id = ${messageId}`)
  return { hops, paused: (row?.paused_at ?? null) !== null }
}

export async function upsertPausedThread(tx: Tx, threadId: number, seq: number, now: number | null): Promise<void> {
  await tx.change(sql`
    INSERT INTO loop_threads (thread_id, from_seq, paused_at) VALUES (${threadId}, ${seq}, CAST(${now} AS BIGINT))
    ON CONFLICT (thread_id) DO UPDATE SET from_seq = excluded.from_seq, paused_at = excluded.paused_at`)
}

/** The messages so far count no more, and wakes go on. Returns whether it was paused. */
export async function resumeThread(tx: Tx, threadId: number): Promise<boolean> {
  const changed = await tx.change(sql`
    UPDATE loop_threads SET paused_at = NULL,
      from_seq = (SELECT t.next_seq - 1 FROM threads t WHERE t.id = loop_threads.thread_id)
    WHERE thread_id = ${threadId} AND paused_at IS NOT NULL`)
  return changed > 0
}

/** Takes `resumeThread` back: messages are counted from where it left off. */
export async function pauseThread(tx: Tx, threadId: number, now: number): Promise<void> {
  await tx.change(sql`UPDATE loop_threads SET paused_at = ${now} WHERE thread_id = ${threadId} AND paused_at IS NULL`)
}

const hourMs = 3_600_000

/** Counts a woken message between two agents; those of the last hour, from the first of them on. */
export async function countPair(
  tx: Tx,
  { low, high, now }: { low: number; high: number; now: number },
): Promise<{ woken: number; paused: boolean }> {
  const [row] = await tx.all<{ woken: number; paused_at: number | null }>(sql`
    INSERT INTO loop_pairs (low_id, high_id, since, woken) VALUES (${low}, ${high}, ${now}, 1)
    ON CONFLICT (low_id, high_id) DO UPDATE SET
      woken = CASE WHEN loop_pairs.since <= ${now - hourMs} THEN 1 ELSE loop_pairs.woken + 1 END,
      since = CASE WHEN loop_pairs.since <= ${now - hourMs} THEN excluded.since ELSE loop_pairs.since END
    RETURNING woken, paused_at`)
  return { woken: row?.woken ?? 0, paused: (row?.paused_at ?? null) !== null }
}

export async function pausePair(tx: Tx, low: number, high: number, now: number): Promise<void> {
  await tx.change(sql`UPDATE loop_pairs SET paused_at = ${now} WHERE low_id = ${low} AND high_id = ${high}`)
}

/** Returns whether it was paused. */
export async function resumePair(tx: Tx, low: number, high: number): Promise<boolean> {
  const changed = await tx.change(sql`
    UPDATE loop_pairs SET paused_at = NULL, woken = 0 WHERE low_id = ${low} AND high_id = ${high} AND paused_at IS NOT NULL`)
  return changed > 0
}

/** Every pair that one of these agents is in begins to count anew. Returns the agents of those that were paused. */
export async function resumePairsOf(tx: Tx, agentIds: readonly number[]): Promise<number[]> {
  const own = sql`(low_id IN ${listed(tx, agentIds)} OR high_id IN ${listed(tx, agentIds)})`
  const rows = await tx.all<{ low_id: number; high_id: number }>(sql`
    UPDATE loop_pairs SET paused_at = NULL, woken = 0 WHERE paused_at IS NOT NULL AND ${own} RETURNING low_id, high_id`)
  await tx.change(sql`UPDATE loop_pairs SET woken = 0 WHERE woken > 0 AND ${own}`)
  return rows.flatMap(({ low_id, high_id }) => [low_id, high_id])
}

/** The agents with unread mail of a thread. */
export const listUnreadOf = async (db: Reader, threadId: number): Promise<number[]> =>
  (
    await db.all<{ recipient_id: number }>(sql`
      SELECT DISTINCT d.recipient_id FROM deliveries d JOIN messages m ON m.id = d.message_id
      WHERE m.thread_id = ${threadId} AND d.read_at IS NULL ORDER BY d.recipient_id`)
  ).map(({ recipient_id }) => recipient_id)

/** A message that is read from the start: nobody is told of it, and it is in no count of unread mail. */
export async function insertReadDeliveries(
  tx: Tx,
  { messageId, to, now }: { messageId: number; to: readonly number[]; now: number },
): Promise<void> {
  const rows = to.map((id) => sql`(${messageId}, ${id}, 'to', ${now}, 0, 0, ${now}, ${now})`)
  await tx.change(sql`
    INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted, read_at, delivered_at) VALUES ${join(rows)}`)
}

interface LoopNameRow {
  id: number
  name: string
  project_id: number
}

export const listNamesOf = (db: Reader, ids: readonly number[]): Promise<LoopNameRow[]> =>
  db.all<LoopNameRow>(sql`SELECT id, name, project_id FROM agents WHERE id IN ${listed(db, ids)}`)

/** The name of a thread, and its project. */
export const findLoopThread = async (
  db: Reader,
  threadId: number,
): Promise<{ called: string; project_id: number } | undefined> => {
  const [row] = await db.all<{ called: string; project_id: number }>(sql`
    SELECT ${threadName} AS called, t.project_id FROM threads t WHERE t.id = ${threadId}`)
  return row
}

/** The senders of the newest woken messages of each of some threads, each once. */
export async function listLatestSenders(
  db: Reader,
  threadIds: readonly number[],
  newest: number,
): Promise<{ thread_id: number; name: string }[]> {
  const rows: { thread_id: number; name: string }[] = []
  for (let at = 0; at < threadIds.length; at += partsPerStatement) {
    const latest = threadIds.slice(at, at + partsPerStatement).map(
      (id) => sql`SELECT * FROM (
        SELECT thread_id, sender_id FROM messages WHERE thread_id = ${id} AND hops > 0 ORDER BY seq DESC LIMIT ${newest}) AS one`,
    )
    rows.push(
      ...(await db.all<{ thread_id: number; name: string }>(sql`
        SELECT DISTINCT l.thread_id, a.name FROM (${join(latest, ' UNION ALL ')}) AS l JOIN agents a ON a.id = l.sender_id`)),
    )
  }
  return rows
}

/** SQLite takes 500. */
const partsPerStatement = 100
