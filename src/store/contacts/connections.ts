/** Contacts that a verification code approves: rows of `contacts` with a code, and requests that wait for an answer. */
import sql from 'sql-template-tag'
import { forUpdate, inOrder } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { ContactRow } from './contacts.ts'

/** Of agents that ask each other at once, one waits for the other. */
export async function lockAgents(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.all(sql`SELECT 1 FROM agents WHERE id IN ${inOrder(tx, sql`agents`, ids)}`)
}

/** Requests of an agent whose codes are still good. */
export async function countWithCode(db: Reader, fromId: number, now: number): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM contacts
    WHERE from_id = ${fromId} AND status = 'pending' AND code IS NOT NULL AND code_expires_at > ${now}`)
  return Number(row?.count ?? 0)
}

export type CodeRow = Pick<ContactRow, 'id' | 'status' | 'expires_at' | 'code_expires_at'>

export async function lockCode(tx: Tx, code: string): Promise<CodeRow | undefined> {
  const [row] = await tx.all<CodeRow>(sql`
    SELECT id, status, expires_at, code_expires_at FROM contacts WHERE code = ${code} ${forUpdate(tx)}`)
  return row
}

/** The two of a request. Not locked: whoever goes on locks the contacts of both, in the order of all others. */
export async function findByCode(
  db: Reader,
  code: string,
): Promise<Pick<ContactRow, 'from_id' | 'to_id' | 'status'> | undefined> {
  const [row] = await db.all<Pick<ContactRow, 'from_id' | 'to_id' | 'status'>>(sql`
    SELECT from_id, to_id, status FROM contacts WHERE code = ${code}`)
  return row
}

export async function updateCode(
  tx: Tx,
  id: number,
  code: { readonly code: string; readonly expiresAt: number } | undefined,
): Promise<void> {
  await tx.change(sql`
    UPDATE contacts SET code = ${code?.code ?? null}, code_expires_at = ${code?.expiresAt ?? null} WHERE id = ${id}`)
}

export interface PendingRow {
  id: number
  from_id: number
  from_name: string
  from_project: number
  reason: string
  origin: ContactRow['origin']
  code: string | null
  updated_at: number
}

/** The requests that wait for the answer of an agent, the oldest first. */
export function listPendingTo(
  db: Reader,
  { toId, now, limit }: { toId: number; now: number; limit: number },
): Promise<PendingRow[]> {
  return db.all<PendingRow>(sql`
    SELECT c.id, c.from_id, a.name AS from_name, a.project_id AS from_project, c.reason, c.origin,
      CASE WHEN c.code_expires_at > ${now} THEN c.code END AS code, c.updated_at
    FROM contacts c JOIN agents a ON a.id = c.from_id
    WHERE c.to_id = ${toId} AND c.status = 'pending' AND (c.expires_at IS NULL OR c.expires_at > ${now})
    ORDER BY c.updated_at, c.id LIMIT ${limit}`)
}

interface AskedRow {
  id: number
  status: ContactRow['status']
  to_name: string
  to_project: number
}

/** The contacts that an agent asked for itself. */
export function listAskedBy(db: Reader, fromId: number, limit: number): Promise<AskedRow[]> {
  return db.all<AskedRow>(sql`
    SELECT c.id, c.status, a.name AS to_name, a.project_id AS to_project
    FROM contacts c JOIN agents a ON a.id = c.to_id
    WHERE c.from_id = ${fromId} AND c.origin = 'asked' ORDER BY c.updated_at DESC, c.id DESC LIMIT ${limit}`)
}
