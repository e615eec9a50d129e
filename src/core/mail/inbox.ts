/** Mail read without taking it: an agent's inbox, the parts of it that want an action, its outbox. */

import { limits } from '../../base/limits.ts'
import { inSpan, isTracing, noteAgent } from '../../base/tracing.ts'
import {
  type InboxPart,
  type InboxRow,
  listBodies,
  listInbox as listInboxRows,
  listOutbox as listOutboxRows,
  type MailRow,
} from '../../store/mail/mail.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { type Trust, trustOf } from '../contacts/trust.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { listAttachments } from '../messages/stored-attachments.ts'
import { linkSenders } from '../messages/traces.ts'
import { type MailMessage, mailMessagesOf } from './messages.ts'
import { holdOf } from './run-mail.ts'
import { giveBack, holdShared, mayTake } from './shared.ts'

export type { InboxPart } from '../../store/mail/mail.ts'

export interface Received extends MailMessage {
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly readAt: number | undefined
  readonly ackedAt: number | undefined
  /** The standing of its sender with the agent. */
  readonly trust: Trust
}

export interface InboxWish {
  readonly part?: InboxPart
  /** Only messages sent after this time. */
  readonly since?: number | undefined
  /** Only messages with a higher id: those that came later, whatever the clocks of their senders said. */
  readonly after?: number | undefined
  /** Only messages sent up to this time. */
  readonly until?: number | undefined
  /** Only messages with a lower id: the last one of the page before. */
  readonly before?: number | undefined
  readonly oldestFirst?: boolean
  readonly bodies?: boolean
  /** With bodies: the room of the answer. Without it, long bodies are left out. */
  readonly budget?: Budget | undefined
  readonly limit: number
  /** Only the mail of this run. */
  readonly run?: string | undefined
}

/** Room for whole messages: as many as fit, and always the first one (mail.inbox.budget). */
export interface Budget {
  readonly most: number
  sizeOf(message: Received): number
}

export interface MailPage<Message extends MailMessage = MailMessage> {
  readonly messages: readonly Message[]
  /** Whether more follow: newer ones where the page reads on, else older ones. */
  readonly more: boolean
}

/** Reading on brings the next messages, not the newest: else those in between would be lost (mail.inbox.reads-on). */
export const readsOn = ({ since, after }: { since?: unknown; after?: unknown }): boolean =>
  since !== undefined || after !== undefined

/**
 * Newest first, unless the oldest is the most pressing. `since` and `after` select the next few from there on. Nothing
 * is marked as read.
 */
export const listInbox = (hub: Hub, acting: Acting, wish: InboxWish): Promise<MailPage<Received>> =>
  isTracing() ? inSpan('inbox', () => listTraced(hub, acting, wish)) : listNow(hub, acting, wish)

async function listTraced(hub: Hub, acting: Acting, wish: InboxWish): Promise<MailPage<Received>> {
  const page = await listNow(hub, acting, wish)
  await linkSenders(hub, ids(page.messages.filter(({ readAt }) => readAt === undefined)))
  return page
}

async function listNow(hub: Hub, acting: Acting, wish: InboxWish): Promise<MailPage<Received>> {
  const agent = await actAs(hub, acting)
  noteAgent(agent)
  const looking = { caller: acting.caller, agent }
  // Others of its role are not given what this one is shown (mail.group.any).
  const held = wish.run === undefined ? await holdShared(hub, looking) : []
  const page = await readInbox(hub, looking, { ...wish, also: held })
  if (held.length > 0) await giveBack(hub, looking, without(held, page.messages))
  if (page.open.length === 0 || wish.run !== undefined || !mayTake(looking)) return page
  // Shared mail came after this process last looked for some. One that another takes at this moment is not this one's.
  const late = await holdShared(hub, looking)
  const again = await readInbox(hub, looking, { ...wish, also: late })
  await giveBack(hub, looking, without(late, again.messages))
  const open = new Set(again.open)
  return { messages: again.messages.filter(({ id }) => !open.has(id)), more: again.more }
}

const ids = (messages: readonly { readonly id: number }[]): number[] => messages.map(({ id }) => id)

const without = (ids: readonly number[], shown: readonly { readonly id: number }[]): number[] =>
  ids.filter((id) => !shown.some((one) => one.id === id))

/** `open` has shared messages of the page that nobody holds. */
async function readInbox(
  hub: Hub,
  { agent }: { agent: Agent },
  wish: InboxWish & { also: readonly number[] },
): Promise<MailPage<Received> & { readonly open: readonly number[] }> {
  const { part = 'all', oldestFirst = false, bodies = false, budget, limit, run, ...range } = wish
  const onwards = readsOn(wish)
  const now = hub.clock.now()
  const query = {
    ...range,
    recipientId: agent.id,
    part,
    bodies: inlineBytes(bodies, limit),
    limit: limit + 1,
    now,
    hold: run === undefined ? undefined : holdOf(run),
  }
  const found = await listInboxRows(reader(hub), { ...query, oldestFirst: oldestFirst || onwards })
  const page = found.slice(0, limit)
  const open = page.filter((row) => isOpen(row, now)).map(({ id }) => id)
  const home = agent.projectId
  if (bodies && budget !== undefined) {
    const fitting = await listFitting(hub, page, { home, budget })
    const more = found.length > fitting.length
    return { messages: onwards && !oldestFirst ? fitting.reverse() : fitting, more, open }
  }
  const rows = await withBodies(hub, onwards && !oldestFirst ? page.reverse() : page, bodies)
  const messages = await mailMessagesOf(hub, { rows, home, bodies })
  return {
    messages: messages.map((message, index) => ({ ...message, ...receipt(rows[index] as InboxRow, home) })),
    more: found.length > limit,
    open,
  }
}

/** Shared mail that nobody holds. */
const isOpen = ({ shared_role, read_at, held_until }: InboxRow, now: number): boolean =>
  shared_role !== null && read_at === null && (held_until ?? 0) <= now

const receipt = (row: InboxRow, home: number) => ({
  kind: row.kind,
  readAt: row.read_at ?? undefined,
  ackedAt: row.acked_at ?? undefined,
  trust: trustOf(row, home),
})

/** The first messages of the page that fit. Long bodies and images are read one by one, until there is no room. */
async function listFitting(
  hub: Hub,
  rows: readonly InboxRow[],
  { home, budget }: { home: number; budget: Budget },
): Promise<Received[]> {
  const bare = await mailMessagesOf(hub, { rows, home, bodies: true, images: 0 })
  const messages: Received[] = []
  let left = budget.most
  for (const [index, row] of rows.entries()) {
    const message = { ...(bare[index] as MailMessage), ...receipt(row, home) }
    if (row.body === null || row.attachments !== null) Object.assign(message, await wholeOf(hub, row))
    left -= budget.sizeOf(message)
    if (left < 0 && messages.length > 0) break
    messages.push(message)
  }
  return messages
}

/** The content of one message, with all that its answer would otherwise leave out. */
async function wholeOf(hub: Hub, row: InboxRow): Promise<Pick<MailMessage, 'body' | 'bodyOmitted' | 'attachments'>> {
  const [found] = row.body === null ? await listBodies(reader(hub), [row.id], Number.MAX_SAFE_INTEGER) : [row]
  const body = found?.body ?? ''
  const all = { most: Number.MAX_SAFE_INTEGER, once: true }
  const attachments = row.attachments === null ? undefined : await listAttachments(reader(hub), [{ ...row, body }], all)
  return { body, bodyOmitted: false, attachments: attachments?.get(row.id) ?? [] }
}

interface OutboxWish {
  readonly since?: number | undefined
  readonly before?: number | undefined
  readonly bodies?: boolean
  readonly limit: number
}

/** The messages that an agent sent, newest first, with all their recipients. */
export async function listOutbox(hub: Hub, acting: Acting, wish: OutboxWish): Promise<MailPage> {
  const agent = await actAs(hub, acting)
  const { since, before, bodies = false, limit } = wish
  const query = { senderId: agent.id, since, before, bodies: inlineBytes(bodies, limit), limit: limit + 1 }
  const found = await listOutboxRows(reader(hub), query)
  const rows = await withBodies(hub, found.slice(0, limit), bodies)
  return {
    messages: await mailMessagesOf(hub, { rows, home: agent.projectId, blind: true, bodies }),
    more: found.length > limit,
  }
}

/** The longest body that is read together with its message. Longer ones are added while there is room (mail.inbox.large). */
export const inlineBytes = (bodies: boolean, limit: number): number =>
  bodies ? Math.floor(limits.answerBodyBytes / limit) : 0

export async function withBodies<Row extends MailRow>(hub: Hub, rows: Row[], wanted: boolean): Promise<Row[]> {
  const missing = wanted ? rows.filter(({ body }) => body === null).map(({ id }) => id) : []
  if (missing.length === 0) return rows
  const used = rows.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ''), 0)
  const found = await listBodies(reader(hub), missing, limits.answerBodyBytes - used)
  const bodies = new Map(found.map(({ id, body }) => [id, body]))
  return rows.map((row) => (row.body === null ? { ...row, body: bodies.get(row.id) ?? null } : row))
}
