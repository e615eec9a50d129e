/** Reading mail without taking it: an agent's inbox, the parts of it that want something, its outbox. */
import {
  type InboxPart,
  type InboxRow,
  listBodies,
  listInbox as listInboxRows,
  listOutbox as listOutboxRows,
  type MailRow,
} from '../store/mail.ts'
import { type Acting, actAs } from './agents.ts'
import type { Hub } from './hub.ts'
import { type Letter, lettersOf } from './letters.ts'

export type { InboxPart } from '../store/mail.ts'

export interface Received extends Letter {
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly readAt: number | undefined
  readonly ackedAt: number | undefined
}

export interface InboxWish {
  readonly part?: InboxPart
  /** Only what was sent after this time. */
  readonly since?: number | undefined
  /** Only what was sent up to this time. */
  readonly until?: number | undefined
  /** Only what is older than the message with this id: the last one of the page before. */
  readonly before?: number | undefined
  readonly oldestFirst?: boolean
  readonly bodies?: boolean
  readonly limit: number
}

/** Newest first, unless the oldest is the most pressing. Nothing is marked as read by it. */
export async function listInbox(hub: Hub, acting: Acting, wish: InboxWish): Promise<Received[]> {
  const agent = await actAs(hub, acting)
  const { part = 'all', since, until, before, oldestFirst = false, bodies = false, limit } = wish
  const inline = bodies && limit <= inlineLimit
  const query = { recipientId: agent.id, part, after: since, until, before, oldestFirst, bodies: inline, limit }
  const rows = await withBodies(hub, await listInboxRows(hub.db, query), bodies && !inline)
  const letters = await lettersOf(hub, { rows, home: agent.projectId })
  return letters.map((letter, index) => ({ ...letter, ...receipt(rows[index] as InboxRow) }))
}

const receipt = ({ kind, read_at, acked_at }: InboxRow) => ({
  kind,
  readAt: read_at ?? undefined,
  ackedAt: acked_at ?? undefined,
})

export interface OutboxWish {
  readonly since?: number | undefined
  readonly before?: number | undefined
  readonly bodies?: boolean
  readonly limit: number
}

/** What an agent sent, newest first, with everybody it went to. */
export async function listOutbox(hub: Hub, acting: Acting, wish: OutboxWish): Promise<Letter[]> {
  const agent = await actAs(hub, acting)
  const { since, before, bodies = false, limit } = wish
  const inline = bodies && limit <= inlineLimit
  const query = { senderId: agent.id, after: since, before, bodies: inline, limit }
  const rows = await withBodies(hub, await listOutboxRows(hub.db, query), bodies && !inline)
  return lettersOf(hub, { rows, home: agent.projectId, blind: true })
}

/** So few are read with their bodies at once; of more, the bodies are added as long as the answer stays of a bearable size. */
export const inlineLimit = 20
const mostBytes = 8 * 1024 * 1024

export async function withBodies<Row extends MailRow>(hub: Hub, rows: Row[], wanted: boolean): Promise<Row[]> {
  if (!wanted || rows.length === 0) return rows
  const bodies = new Map(
    (
      await listBodies(
        hub.db,
        rows.map(({ id }) => id),
        mostBytes,
      )
    ).map(({ id, body }) => [id, body]),
  )
  return rows.map((row) => ({ ...row, body: bodies.get(row.id) ?? null }))
}
