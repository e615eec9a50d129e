/** Rows of `name_holders` and `joins`: which process or session acts under an agent's name, and in which threads. */
import sql, { join } from 'sql-template-tag'
import { forUpdate, listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { CursorRow } from '../topics/cursors.ts'

export interface HolderRow {
  holder: string
  reclaim_token: string
  seen_at: number
}

/** The holder of an agent's name: `candidate`, if it was free. Locked until the transaction ends. */
export async function lockHolder(tx: Tx, agentId: number, candidate: HolderRow): Promise<HolderRow> {
  const { holder, reclaim_token, seen_at } = candidate
  await tx.all(sql`
    INSERT INTO name_holders (agent_id, holder, reclaim_token, seen_at)
    VALUES (${agentId}, ${holder}, ${reclaim_token}, ${seen_at}) ON CONFLICT (agent_id) DO NOTHING`)
  const [row] = await tx.all<HolderRow>(sql`
    SELECT holder, reclaim_token, seen_at FROM name_holders WHERE agent_id = ${agentId} ${forUpdate(tx)}`)
  // The former holder may have gone between the two statements.
  return row ?? lockHolder(tx, agentId, candidate)
}

export async function updateHolder(
  tx: Tx,
  agentId: number,
  { holder, reclaim_token, seen_at }: HolderRow,
): Promise<void> {
  await tx.all(sql`
    UPDATE name_holders SET holder = ${holder}, reclaim_token = ${reclaim_token}, seen_at = ${seen_at}
    WHERE agent_id = ${agentId}`)
}

export async function updateHoldersSeen(tx: Tx, agentIds: readonly number[], now: number): Promise<void> {
  await tx.all(sql`UPDATE name_holders SET seen_at = ${now} WHERE agent_id IN ${listed(tx, agentIds)}`)
}

/** The agents whose names one of these holds. */
export async function listHeldBy(db: Reader, holders: readonly string[]): Promise<number[]> {
  const rows = await db.all<{ agent_id: number }>(
    sql`SELECT agent_id FROM name_holders WHERE holder IN (${join([...holders])})`,
  )
  return rows.map(({ agent_id }) => agent_id)
}

export async function upsertJoin(tx: Tx, holder: string, threadId: number, agentId: number): Promise<void> {
  await tx.all(sql`
    INSERT INTO joins (holder, thread_id, agent_id) VALUES (${holder}, ${threadId}, ${agentId})
    ON CONFLICT (holder, thread_id) DO UPDATE SET agent_id = ${agentId}`)
}

/** Forgets the threads that a holder joined under this name. */
export async function deleteJoins(tx: Tx, holder: string, agentId: number): Promise<void> {
  await tx.all(sql`DELETE FROM joins WHERE holder = ${holder} AND agent_id = ${agentId}`)
}

/** Forgets a process or session that is gone: its names are free. */
export async function deleteHolder(tx: Tx, holder: string): Promise<void> {
  await tx.all(sql`DELETE FROM joins WHERE holder = ${holder}`)
  await tx.all(sql`DELETE FROM name_holders WHERE holder = ${holder}`)
}

/** Nobody acts under this name any more, nor takes part under it. */
export async function deleteHoldersOf(tx: Tx, agentId: number): Promise<void> {
  await tx.all(sql`DELETE FROM joins WHERE agent_id = ${agentId}`)
  await tx.all(sql`DELETE FROM name_holders WHERE agent_id = ${agentId}`)
}

export interface MemberRow extends CursorRow {
  agent_id: number
  name: string
  /** Whether the agent has or had a key. */
  keyed: number
  /** The present holder of the name; another one if it was reclaimed. */
  holder: string | null
  seen_at: number | null
}

/** The member that a holder is in a thread, with its cursor, which stays locked until the transaction ends. */
export async function lockMember(tx: Tx, holder: string, threadId: number): Promise<MemberRow | undefined> {
  const [row] = await tx.all<MemberRow>(sql`
    SELECT a.id AS agent_id, a.name, a.keyed, h.holder, h.seen_at, c.last_seq, c.scanned_seq, c.synced_at
    FROM joins j
    JOIN agents a ON a.id = j.agent_id
    JOIN cursors c ON c.thread_id = j.thread_id AND c.agent_id = j.agent_id
    LEFT JOIN name_holders h ON h.agent_id = j.agent_id
    WHERE j.holder = ${holder} AND j.thread_id = ${threadId} ${forUpdate(tx, 'c')}`)
  return row
}
