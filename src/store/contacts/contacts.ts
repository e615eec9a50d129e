/** Rows of `contacts`: requests, their answers, and until when an answer holds. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { forUpdate } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

export interface ContactRow {
  id: number
  from_id: number
  to_id: number
  status: 'pending' | 'approved' | 'denied'
  /** Whether somebody asked for it; else a send made or filed it, or it was declined before anybody asked. */
  origin: 'asked' | 'automatic'
  /** Empty where nobody asked. */
  reason: string
  created_at: number
  updated_at: number
  /** Null is for good. */
  expires_at: number | null
  /** Approves the request for whoever was asked and brings it. */
  code: string | null
  code_expires_at: number | null
}

const columns = sql`id, from_id, to_id, status, origin, reason, created_at, updated_at, expires_at, code, code_expires_at`

/**
 * Whether a sender is a contact of a reader: one of them has asked, and the other accepted. For one reader it is one look, whatever the
 * number of senders.
 */
export const isContact = ({ reader, sender, now }: { reader: number | Sql; sender: Sql; now: number | Sql }): Sql => {
  const standing = sql`status = 'approved' AND origin = 'asked' AND (expires_at IS NULL OR expires_at > ${now})`
  return sql`CASE WHEN ${sender} IN (
    SELECT from_id FROM contacts WHERE to_id = ${reader} AND ${standing}
    UNION ALL SELECT to_id FROM contacts WHERE from_id = ${reader} AND ${standing}) THEN 1 ELSE 0 END`
}

/** The contacts between one agent and some others, asked for by either side. */
export function listContactsBetween(db: Reader, agentId: number, others: readonly number[]): Promise<ContactRow[]> {
  const ids = join([...others])
  return db.all<ContactRow>(sql`
    SELECT ${columns} FROM contacts WHERE from_id = ${agentId} AND to_id IN (${ids})
    UNION ALL SELECT ${columns} FROM contacts WHERE from_id IN (${ids}) AND to_id = ${agentId}`)
}

/**
 * The contacts between two agents, each way; locked until the transaction ends, in one order: two agents that ask each
 * other at once would else wait for each other for ever.
 */
export async function lockContacts(
  tx: Tx,
  agentId: number,
  otherId: number,
): Promise<{ own: ContactRow | undefined; back: ContactRow | undefined }> {
  const rows = await tx.all<ContactRow>(sql`
    SELECT ${columns} FROM contacts
    WHERE from_id IN (${agentId}, ${otherId}) AND to_id IN (${agentId}, ${otherId}) ORDER BY id ${forUpdate(tx)}`)
  return {
    own: rows.find(({ from_id }) => from_id === agentId),
    back: rows.find(({ from_id }) => from_id === otherId),
  }
}

interface NewContact {
  fromId: number
  toId: number
  status: ContactRow['status']
  origin: ContactRow['origin']
  reason: string
  now: number
  expiresAt: number | undefined
}

export async function insertContact(tx: Tx, contact: NewContact): Promise<ContactRow> {
  const { fromId, toId, status, origin, reason, now, expiresAt } = contact
  const [row] = await tx.all<ContactRow>(sql`
    INSERT INTO contacts (from_id, to_id, status, origin, reason, created_at, updated_at, expires_at)
    VALUES (${fromId}, ${toId}, ${status}, ${origin}, ${reason}, ${now}, ${now}, ${expiresAt ?? null})
    RETURNING ${columns}`)
  return row as ContactRow
}

interface ContactChange {
  status: ContactRow['status']
  origin: ContactRow['origin']
  reason: string
  now: number
  expiresAt: number | undefined
}

export async function updateContact(
  tx: Tx,
  id: number,
  { status, origin, reason, now, expiresAt }: ContactChange,
): Promise<void> {
  await tx.all(sql`
    UPDATE contacts SET status = ${status}, origin = ${origin}, reason = ${reason}, updated_at = ${now},
      expires_at = ${expiresAt ?? null}, code = CASE WHEN ${status} = 'pending' THEN code END
    WHERE id = ${id}`)
}

interface Handshakes {
  fromId: number
  toIds: readonly number[]
  now: number
  expiresAt: number
}

/** The ids of contacts by the agent they are with. */
type MadeContacts = ReadonlyMap<number, number>

const made = (rows: readonly { id: number; to_id: number }[]): MadeContacts =>
  new Map(rows.map(({ id, to_id }) => [to_id, id]))

/** Automatic contact. A standing denial is left alone. Returns the agents that are contacts now. */
export async function approveContacts(tx: Tx, handshakes: Handshakes): Promise<MadeContacts> {
  const { now, expiresAt } = handshakes
  return made(
    await tx.all(sql`
      ${insertAll(handshakes, 'approved')} DO UPDATE
      SET status = 'approved', origin = 'automatic', reason = '', updated_at = ${now}, expires_at = ${expiresAt}
      WHERE contacts.status <> 'denied' OR contacts.expires_at <= ${now} RETURNING id, to_id`),
  )
}

/**
 * Automatic requests: a standing one, answered or not, is left alone, but for contact that nobody has approved. One that was asked for and never answered stays
 * asked for, with its reason. Returns the agents that were asked anew.
 */
export async function fileContacts(tx: Tx, handshakes: Handshakes): Promise<MadeContacts> {
  const { now, expiresAt } = handshakes
  return made(
    await tx.all(sql`
      ${insertAll(handshakes, 'pending')} DO UPDATE
      SET status = 'pending', origin = CASE WHEN contacts.status = 'pending' THEN contacts.origin ELSE 'automatic' END,
        reason = CASE WHEN contacts.status = 'pending' THEN contacts.reason ELSE '' END,
        updated_at = ${now}, expires_at = ${expiresAt}
      WHERE contacts.expires_at <= ${now} OR (contacts.status = 'approved' AND contacts.origin = 'automatic')
      RETURNING id, to_id`),
  )
}

/** In one order: two transactions that write the same rows then wait in one direction only. */
function insertAll({ fromId, toIds, now, expiresAt }: Handshakes, status: string): Sql {
  const rows = toIds
    .toSorted((a, b) => a - b)
    .map((toId) => sql`(${fromId}, ${toId}, ${status}, 'automatic', '', ${now}, ${now}, ${expiresAt})`)
  return sql`
    INSERT INTO contacts (from_id, to_id, status, origin, reason, created_at, updated_at, expires_at) VALUES ${join(rows)}
    ON CONFLICT (from_id, to_id)`
}

/** Lets approved contacts last longer; nothing else about them changes. */
export async function extendContacts(tx: Tx, ids: readonly number[], expiresAt: number): Promise<void> {
  await tx.all(sql`
    UPDATE contacts SET expires_at = ${expiresAt}
    WHERE id IN (${join([...ids])}) AND status = 'approved' AND expires_at < ${expiresAt}`)
}

/** With the names and projects of both. */
export interface NamedContactRow extends ContactRow {
  from_name: string
  from_project: string
  to_name: string
  to_project: string
}

const named = sql`
  SELECT c.id, c.from_id, c.to_id, c.status, c.origin, c.reason, c.created_at, c.updated_at, c.expires_at, c.code,
    c.code_expires_at,
    f.name AS from_name, fp.slug AS from_project, t.name AS to_name, tp.slug AS to_project
  FROM contacts c
  JOIN agents f ON f.id = c.from_id JOIN projects fp ON fp.id = f.project_id
  JOIN agents t ON t.id = c.to_id JOIN projects tp ON tp.id = t.project_id`

export async function findNamedContact(db: Reader, id: number): Promise<NamedContactRow> {
  const [row] = await db.all<NamedContactRow>(sql`${named} WHERE c.id = ${id}`)
  return row as NamedContactRow
}

/** Contacts of an agent, asked for by either side, the latest change first; with `before`, those below that one. */
export function listNamedContacts(
  db: Reader,
  { agentId, before, limit }: { agentId: number; before: number | undefined; limit: number },
): Promise<NamedContactRow[]> {
  const below =
    before === undefined
      ? empty
      : sql`AND (c.updated_at, c.id) < (
          SELECT updated_at, id FROM contacts WHERE id = ${before} AND ${agentId} IN (from_id, to_id))`
  return db.all<NamedContactRow>(sql`
    ${named} WHERE c.id IN (
      SELECT id FROM contacts WHERE from_id = ${agentId} UNION SELECT id FROM contacts WHERE to_id = ${agentId})
      ${below}
    ORDER BY c.updated_at DESC, c.id DESC LIMIT ${limit}`)
}

/** All contacts of the agents of a project, or of one of them, with each other and with those elsewhere. */
export function listContactsOf(
  db: Reader,
  { projectId, agentId, limit }: { projectId: number; agentId: number | undefined; limit: number },
): Promise<NamedContactRow[]> {
  const whose = agentId === undefined ? sql`(SELECT id FROM agents WHERE project_id = ${projectId})` : sql`(${agentId})`
  return db.all<NamedContactRow>(sql`
    ${named} WHERE c.id IN (
      SELECT id FROM contacts WHERE from_id IN ${whose} UNION SELECT id FROM contacts WHERE to_id IN ${whose})
    ORDER BY CASE c.status WHEN 'pending' THEN 0 ELSE 1 END, c.updated_at DESC, c.id DESC LIMIT ${limit}`)
}

/** Requests that nobody has answered, of all projects or of one, the newest first. An agent sees its own. */
export function listPendingContacts(
  db: Reader,
  { projectId, agentId, limit }: { projectId: number | undefined; agentId: number | undefined; limit: number },
): Promise<NamedContactRow[]> {
  return db.all<NamedContactRow>(sql`
    ${named} WHERE c.status = 'pending'
      ${projectId === undefined ? empty : sql`AND (f.project_id = ${projectId} OR t.project_id = ${projectId})`}
      ${agentId === undefined ? empty : sql`AND (c.from_id = ${agentId} OR c.to_id = ${agentId})`}
    ORDER BY c.id DESC LIMIT ${limit}`)
}

/** Other agents of the same name as `notId` that asked this one and were not denied. */
export function listNamesakes(
  db: Reader,
  { toId, nameKey, notId }: { toId: number; nameKey: string; notId: number },
): Promise<{ name: string; slug: string }[]> {
  return db.all(sql`
    SELECT a.name, p.slug FROM contacts c JOIN agents a ON a.id = c.from_id JOIN projects p ON p.id = a.project_id
    WHERE c.to_id = ${toId} AND a.name_key = ${nameKey} AND a.id <> ${notId} AND c.status <> 'denied'
    ORDER BY p.slug LIMIT 5`)
}

interface ElsewhereRow {
  id: number
  project_id: number
  name: string
  slug: string
}

/** Approved contacts of this name in other projects. Two are enough to know that the name is ambiguous. */
export function listContactsElsewhere(
  db: Reader,
  { agentId, projectId, nameKey, now }: { agentId: number; projectId: number; nameKey: string; now: number },
): Promise<ElsewhereRow[]> {
  const standing = sql`status = 'approved' AND (expires_at IS NULL OR expires_at > ${now})`
  return db.all<ElsewhereRow>(sql`
    SELECT a.id, a.project_id, a.name, p.slug FROM agents a JOIN projects p ON p.id = a.project_id
    WHERE a.name_key = ${nameKey} AND a.project_id <> ${projectId} AND a.id IN (
      SELECT to_id FROM contacts WHERE from_id = ${agentId} AND ${standing}
      UNION SELECT from_id FROM contacts WHERE to_id = ${agentId} AND ${standing})
    ORDER BY p.slug LIMIT 5`)
}
