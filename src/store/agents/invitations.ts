/** Rows of `invitations`: who may be given a key by whoever brings the code. Only hashes of codes are stored. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'

interface InvitationRow {
  project_id: number
  project: string
  name: string
  door: string
  created_at: number
  expires_at: number
}

interface NewInvitation {
  readonly projectId: number
  readonly name: string
  readonly nameKey: string
  readonly hash: string
  readonly door: string
  readonly now: number
  readonly expiresAt: number
}

/** Takes the place of the one that the agent had. */
export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  const { projectId, name, nameKey, hash, door, now, expiresAt } = invitation
  await tx.all(sql`
    INSERT INTO invitations (project_id, name_key, name, hash, door, created_at, expires_at)
    VALUES (${projectId}, ${nameKey}, ${name}, ${hash}, ${door}, ${now}, ${expiresAt})
    ON CONFLICT (project_id, name_key) DO UPDATE SET name = excluded.name, hash = excluded.hash,
      door = excluded.door, created_at = excluded.created_at, expires_at = excluded.expires_at`)
}

export interface TakenInvitation {
  project_id: number
  name: string
  door: string
}

/** Of several who bring one code at once, one is given the row; the others find none. */
export async function takeInvitation(
  tx: Tx,
  { hash, nameKey, now }: { hash: string; nameKey: string; now: number },
): Promise<TakenInvitation | undefined> {
  const [row] = await tx.all<TakenInvitation>(sql`
    DELETE FROM invitations WHERE hash = ${hash} AND name_key = ${nameKey} AND expires_at > ${now}
    RETURNING project_id, name, door`)
  return row
}

export function deleteInvitation(tx: Tx, projectId: number, nameKey: string): Promise<number> {
  return tx.change(sql`DELETE FROM invitations WHERE project_id = ${projectId} AND name_key = ${nameKey}`)
}

export async function deleteOldInvitations(tx: Tx, now: number): Promise<void> {
  await tx.change(sql`DELETE FROM invitations WHERE expires_at <= ${now}`)
}

/** Invitations that can still be used, the newest first. */
export function listInvitations(db: Reader, { now, limit }: { now: number; limit: number }): Promise<InvitationRow[]> {
  return db.all<InvitationRow>(sql`
    SELECT i.project_id, p.slug AS project, i.name, i.door, i.created_at, i.expires_at
    FROM invitations i JOIN projects p ON p.id = i.project_id
    WHERE i.expires_at > ${now} ORDER BY i.created_at DESC, i.project_id, i.name_key LIMIT ${limit}`)
}
