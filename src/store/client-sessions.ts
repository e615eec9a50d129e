/** Rows of `client_sessions`: the sessions of clients whose agent is known. */
import sql, { join } from 'sql-template-tag'
import { listed } from '../db/dialect.ts'
import type { Reader, Tx } from '../db/port.ts'

export interface ClientSessionRow {
  client: string
  session: string
  agent_id: number
  bound_at: number
  /** The last hook; null where only calls of the session are known. */
  heard_at: number | null
  /** A turn runs since then. */
  turn_at: number | null
  /** Whether ends of its turns are heard. */
  stops: number
  ended: number
  changed_at: number
}

const columns = sql`client, session, agent_id, bound_at, heard_at, turn_at, stops, ended, changed_at`

/** The agents of one session, the last bound first. */
export const listOfSession = (db: Reader, client: string, session: string): Promise<ClientSessionRow[]> =>
  db.all(sql`
    SELECT ${columns} FROM client_sessions WHERE client = ${client} AND session = ${session} ORDER BY bound_at DESC`)

/** The sessions that have changed since then, the latest of them first. */
export const listChangedSessions = (
  db: Reader,
  { since, limit }: { since: number; limit: number },
): Promise<ClientSessionRow[]> =>
  db.all(sql`
    SELECT ${columns} FROM client_sessions WHERE changed_at >= ${since} ORDER BY changed_at DESC LIMIT ${limit}`)

/** The sessions of some agents that have changed since then. */
export const listSessionsOf = (db: Reader, agentIds: readonly number[], since: number): Promise<ClientSessionRow[]> =>
  db.all(sql`
    SELECT ${columns} FROM client_sessions WHERE agent_id IN ${listed(db, agentIds)} AND changed_at >= ${since}`)

/** Whether a hook of any session of this client was heard for the agent. */
export async function isClientHeard(db: Reader, agentId: number, client: string): Promise<boolean> {
  const rows = await db.all(sql`
    SELECT 1 FROM client_sessions WHERE agent_id = ${agentId} AND client = ${client} AND heard_at IS NOT NULL LIMIT 1`)
  return rows.length > 0
}

const rowsPerStatement = 100

/** The later of two writers wins: each process writes what it has heard itself. */
export async function upsertSessions(tx: Tx, sessions: readonly ClientSessionRow[]): Promise<void> {
  for (let at = 0; at < sessions.length; at += rowsPerStatement) {
    const rows = sessions
      .slice(at, at + rowsPerStatement)
      .map(
        (row) =>
          sql`${row.client}, ${row.session}, ${row.agent_id}, ${row.bound_at}, CAST(${row.heard_at} AS BIGINT), CAST(${row.turn_at} AS BIGINT), ${row.stops}, ${row.ended}, ${row.changed_at}`,
      )
    await tx.change(sql`
      INSERT INTO client_sessions (${columns}) VALUES (${join(rows, '), (')})
      ON CONFLICT (client, session, agent_id) DO UPDATE SET bound_at = excluded.bound_at, heard_at = excluded.heard_at,
        turn_at = excluded.turn_at, stops = excluded.stops, ended = excluded.ended, changed_at = excluded.changed_at
      WHERE client_sessions.changed_at <= excluded.changed_at`)
  }
}

/** Forgets sessions of which nothing was heard since then. */
export async function deleteOldSessions(tx: Tx, before: number): Promise<void> {
  await tx.change(sql`DELETE FROM client_sessions WHERE changed_at < ${before}`)
}

export interface ClientRow {
  client: string
  /** Sessions that have called or were heard. */
  sessions: number
  heard_at: number | null
  waiters: number
}

/** Each client with its sessions, and the waiters that stand for it now. */
export const listClients = (db: Reader, now: number): Promise<ClientRow[]> =>
  db.all(sql`
    SELECT client, SUM(sessions) AS sessions, MAX(heard_at) AS heard_at, SUM(waiters) AS waiters FROM (
      SELECT client, COUNT(*) AS sessions, MAX(heard_at) AS heard_at, 0 AS waiters FROM client_sessions GROUP BY client
      UNION ALL
      SELECT p.via AS client, 0 AS sessions, NULL AS heard_at, COUNT(*) AS waiters
      FROM presence p JOIN presence_nodes n ON n.node = p.node
      WHERE p.kind = 'waiter' AND n.expires_at > ${now} GROUP BY p.via) AS parts
    GROUP BY client ORDER BY client`)
