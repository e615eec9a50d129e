/** Rows of `attachments` and `inline_images`: the content that messages carry, in the database, where every node finds it. */
import sql, { empty, join } from 'sql-template-tag'
import { forDelete, forReference, listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { AttachmentsPolicy } from '../agents/profiles.ts'
import { ofProject, readable, received, type Sight } from '../visibility.ts'

/** An attachment as `messages.attachments` lists it. The content of an inline one is in `inline_images`. */
export type AttachmentRow =
  | { readonly type: 'link'; readonly uri: string }
  | ({
      readonly media_type: string
      readonly original_path?: string
    } & ( // Messages from before lack the hash, and do not say whether the image stands in the body.
      | { readonly type: 'inline'; readonly sha1?: string; readonly in_body?: true }
      | { readonly type: 'file'; readonly path: string; readonly bytes: number; readonly sha1: string }
    ))

export const attachmentsOf = (json: string | null): readonly AttachmentRow[] => (json === null ? [] : JSON.parse(json))

/** The paths of the files that a message names: the attachments themselves, and originals of converted images. */
export const storedPaths = (json: string | null): string[] => [
  ...new Set(
    attachmentsOf(json).flatMap((one) => [
      ...(one.type === 'file' ? [one.path] : []),
      ...(one.type === 'link' || one.original_path === undefined ? [] : [one.original_path]),
    ]),
  ),
]

/** A file of a project by its content: the path is made from its hash. */
export interface FileRow {
  readonly path: string
  readonly sha256: string
  readonly media_type: string
  readonly size: number
  /** The name of its parts. */
  readonly content: string
}

/** False if the project has a file of this path already. */
export async function insertFile(
  tx: Tx,
  { projectId, now, file }: { projectId: number; now: number; file: FileRow },
): Promise<boolean> {
  const { path, sha256, media_type, size, content } = file
  const rows = await tx.all(sql`
    INSERT INTO attachments (project_id, path, sha256, media_type, size, content, created_at)
    VALUES (${projectId}, ${path}, ${sha256}, ${media_type}, ${size}, ${content}, ${now})
    ON CONFLICT (project_id, path) DO NOTHING RETURNING size`)
  return rows.length > 0
}

export async function findFile(db: Reader, projectId: number, path: string): Promise<FileRow | undefined> {
  const [row] = await db.all<FileRow>(sql`
    SELECT path, sha256, media_type, size, content FROM attachments WHERE project_id = ${projectId} AND path = ${path}`)
  return row
}

/** The same for a message that is about to name it: nobody deletes it before that is committed. */
export async function findFileToCarry(tx: Tx, projectId: number, path: string): Promise<FileRow | undefined> {
  const [row] = await tx.all<FileRow>(sql`
    SELECT path, sha256, media_type, size, content FROM attachments
    WHERE project_id = ${projectId} AND path = ${path} ${forReference(tx)}`)
  return row
}

/**
 * Deletes a file that no message of its project carries any more. Locked first: a send that names it meanwhile holds the row,
 * and its message counts once it is committed. The bytes become a staged content, which is swept.
 */
export async function deleteUncarried(tx: Tx, { projectId, path }: { projectId: number; path: string }): Promise<void> {
  await tx.all(sql`SELECT path FROM attachments WHERE project_id = ${projectId} AND path = ${path} ${forDelete(tx)}`)
  const [gone] = await tx.all<{ content: string; size: number }>(sql`
    DELETE FROM attachments WHERE project_id = ${projectId} AND path = ${path} AND NOT EXISTS (
      SELECT 1 FROM attachment_carriers c JOIN messages m ON m.id = c.message_id JOIN agents s ON s.id = m.sender_id
      WHERE c.sha1 = ${hashIn(path) ?? ''} AND s.project_id = ${projectId}) RETURNING content, size`)
  if (gone === undefined) return
  await insertStaged(tx, gone.content, 0)
  await tx.all(sql`UPDATE projects SET attachment_bytes = attachment_bytes - ${gone.size} WHERE id = ${projectId}`)
}

/** Files are named by the hash of their content. */
export const hashIn = (path: string): string | undefined => /([0-9a-f]{40})\.\w+$/.exec(path)?.[1]

/** One part of a content, from 0 on; undefined behind the last. */
export async function findPart(db: Reader, content: string, position: number): Promise<Uint8Array | undefined> {
  const [row] = await db.all<{ bytes: Uint8Array }>(
    sql`SELECT bytes FROM attachment_parts WHERE content = ${content} AND position = ${position}`,
  )
  return row?.bytes
}

export async function insertPart(tx: Tx, content: string, position: number, bytes: Uint8Array): Promise<void> {
  await tx.all(sql`
    INSERT INTO attachment_parts (content, position, bytes) VALUES (${content}, ${position}, ${bytes})`)
}

/** Deletes the last part of a content; false if there was none. */
export async function deleteLastPart(tx: Tx, content: string): Promise<boolean> {
  const rows = await tx.all(sql`
    DELETE FROM attachment_parts WHERE content = ${content}
      AND position = (SELECT MAX(position) FROM attachment_parts WHERE content = ${content}) RETURNING position`)
  return rows.length > 0
}

export async function insertStaged(tx: Tx, content: string, now: number): Promise<void> {
  await tx.all(sql`INSERT INTO staged_contents (content, staged_at) VALUES (${content}, ${now})`)
}

/** False if it is not there any more. */
export async function deleteStaged(tx: Tx, content: string): Promise<boolean> {
  const rows = await tx.all(sql`DELETE FROM staged_contents WHERE content = ${content} RETURNING content`)
  return rows.length > 0
}

export async function isStaged(db: Reader, content: string): Promise<boolean> {
  const rows = await db.all(sql`SELECT 1 FROM staged_contents WHERE content = ${content}`)
  return rows.length > 0
}

/** The contents that were staged before a time. */
export async function listStaged(db: Reader, before: number, limit: number): Promise<string[]> {
  const rows = await db.all<{ content: string }>(sql`
    SELECT content FROM staged_contents WHERE staged_at < ${before} ORDER BY staged_at LIMIT ${limit}`)
  return rows.map(({ content }) => content)
}

/** Counts bytes that a project stores from now on, unless it then had more than `most`; returns whether it did. */
export async function raiseAttachmentBytes(
  tx: Tx,
  { projectId, by, most }: { projectId: number; by: number; most: number | undefined },
): Promise<boolean> {
  const rows = await tx.all(sql`
    UPDATE projects SET attachment_bytes = attachment_bytes + ${by} WHERE id = ${projectId}
      ${most === undefined ? empty : sql`AND attachment_bytes + ${by} <= ${most}`} RETURNING id`)
  return rows.length > 0
}

/** Bytes of all files that a project stores. */
export async function findAttachmentBytes(db: Reader, projectId: number): Promise<number> {
  const [row] = await db.all<{ bytes: number }>(
    sql`SELECT attachment_bytes AS bytes FROM projects WHERE id = ${projectId}`,
  )
  return Number(row?.bytes ?? 0)
}

interface InlineRow {
  readonly message_id: number
  readonly position: number
  readonly data_uri: string
}

export function insertInline(tx: Tx, { message_id, position, data_uri }: InlineRow): void {
  tx.enqueue(sql`
    INSERT INTO inline_images (message_id, position, data_uri) VALUES (${message_id}, ${position}, ${data_uri})`)
}

/** The inline images of these messages, the newest first, as long as they have at most so many characters together. */
export function listInline(db: Reader, ids: readonly number[], most: number): Promise<InlineRow[]> {
  return db.all<InlineRow>(sql`
    WITH sizes AS (
      SELECT message_id, SUM(octet_length(data_uri)) AS size FROM inline_images
      WHERE message_id IN ${listed(db, ids)} GROUP BY message_id
    ), summed AS (SELECT message_id, SUM(size) OVER (ORDER BY message_id DESC) AS total FROM sizes)
    SELECT i.message_id, i.position, i.data_uri FROM summed s JOIN inline_images i ON i.message_id = s.message_id
    WHERE s.total <= ${most}`)
}

export function insertCarriers(tx: Tx, messageId: number, sha1s: readonly string[]): void {
  if (sha1s.length === 0) return
  const rows = sha1s.map((sha1) => sql`(${sha1}, ${messageId})`)
  tx.enqueue(sql`INSERT INTO attachment_carriers (sha1, message_id) VALUES ${join(rows)}`)
}

export interface CarrierRow {
  readonly id: number
  readonly attachments: string | null
  /** The project that stores its files. */
  readonly project_id: number
}

interface CarrierQuery {
  readonly sha1: string
  readonly sight: Sight
  readonly projectId: number | undefined
  readonly limit: number
}

/** The first messages in sight that carry this content: of a project, or of any. */
export const listCarriersOf = (db: Reader, { sha1, sight, projectId, limit }: CarrierQuery): Promise<CarrierRow[]> =>
  db.all<CarrierRow>(sql`
    SELECT m.id, m.attachments, a.project_id FROM attachment_carriers c JOIN messages m ON m.id = c.message_id
    JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE c.sha1 = ${sha1} AND t.status <> 'deleted' AND (${received(sight, projectId)}
      OR (${projectId === undefined ? sql`TRUE` : ofProject(projectId)} AND ${readable(sight)}))
    ORDER BY m.id LIMIT ${limit}`)

/** The newest messages that a project sees and that carry this file, with the project that stores it. */
export function listCarriers(
  db: Reader,
  { projectId, path, limit }: { projectId: number; path: string; limit: number },
): Promise<{ id: number; sender_project: number }[]> {
  const like = `%${JSON.stringify(path).replace(/[\\%_]/g, '\\$&')}%`
  return db.all(sql`
    SELECT m.id, a.project_id AS sender_project
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.attachments IS NOT NULL AND m.attachments LIKE ${like} ESCAPE '\\' AND ${ofProject(projectId)}
    ORDER BY m.id DESC LIMIT ${limit}`)
}

export async function findAttachmentsPolicy(db: Reader, agentId: number): Promise<AttachmentsPolicy | undefined> {
  const [row] = await db.all<{ attachments_policy: AttachmentsPolicy }>(
    sql`SELECT attachments_policy FROM agents WHERE id = ${agentId}`,
  )
  return row?.attachments_policy
}
