/** Conversations as an agent sees them: its threads of mail, by their newest message, and the history of one of them. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { updateUnread } from '../../store/agents.ts'
import {
  type ConversationRow,
  findReach,
  type LetterRow,
  listConversationRows,
  listLetters,
  listTops,
  listUnreadThreads,
} from '../../store/conversation-lists.ts'
import { countAutomatic, findMailThreadOf, findOwnMessage, findUid, listHistory } from '../../store/conversations.ts'
import { updateAllRead } from '../../store/deliveries.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { addressFrom } from '../messages/addresses.ts'
import { firstLine } from './messages.ts'

/** A message as one of its parties sees it. */
export interface Letter {
  readonly uid: string
  readonly from: string
  readonly body: string
  /** Whether the body goes on: it was too long for a list. */
  readonly cut: boolean
  readonly createdAt: number
  /** Whether the agent itself has written it. */
  readonly own: boolean
  /** Of the agent's own message, whether all to whom it openly went have read it. */
  readonly read: boolean
  readonly automatic: boolean
}

export interface ConversationPage {
  readonly conversations: readonly Listed[]
  /** The message from which the next page goes on. */
  readonly next: string | undefined
}

export interface Listed {
  readonly uid: string
  readonly subject: string
  readonly other: string
  readonly unread: number
  readonly lastAt: number
  /** Newest first. */
  readonly recent: readonly Letter[]
}

export interface ConversationWish {
  readonly unreadOnly: boolean
  readonly limit: number
  /** Only conversations whose newest message came before this one. */
  readonly before?: string | undefined
}

const everything = Number.MAX_SAFE_INTEGER

/**
 * Newest first. A list of unread ones pages by their newest unread message. It costs a fixed number of statements, and
 * looks through the newest mail only: `next` says where to go on.
 */
export async function listConversations(hub: Hub, acting: Acting, wish: ConversationWish): Promise<ConversationPage> {
  const agent = await actAs(hub, acting)
  const db = reader(hub)
  const below = wish.before === undefined ? everything : (await needOwn(hub, agent, wish.before)).id
  // As long as the unread mail of the agent, which nobody bounds.
  const unread = new Map((await listUnreadThreads(longReader(hub), agent.id)).map((row) => [row.thread_id, row]))
  const from = wish.unreadOnly ? 0 : await findReach(db, { agentId: agent.id, below })
  const tops = wish.unreadOnly
    ? [...unread.values()].filter(({ top }) => top < below).sort((a, b) => b.top - a.top)
    : await listTops(db, { agentId: agent.id, below, from, limit: wish.limit + 1 })
  const page = tops.slice(0, wish.limit)
  const rows = page.length === 0 ? [] : await listConversationRows(db, agent.id, idsOf(page))
  // A thread with a message past the bound was on an earlier page.
  const shown = wish.unreadOnly ? rows : rows.filter(({ first }) => first < below)
  const recent = await lettersOf(hub, agent, shown.flatMap(messagesOf), limits.postBodyLength)

  const topOf = new Map(page.map(({ thread_id, top }) => [thread_id, top]))
  const chosen = fitting(
    shown
      .map((row) => ({
        row,
        top: topOf.get(row.id) ?? 0,
        letters: messagesOf(row).flatMap((id) => recent.get(id) ?? []),
      }))
      .sort((a, b) => b.top - a.top),
  )
  const conversations: Listed[] = []
  for (const { row, letters } of chosen.toSorted((a, b) => b.row.first - a.row.first))
    conversations.push(await toListed(hub, agent, { row, letters, unread: unread.get(row.id)?.unread ?? 0 }))
  const last = chosen.length < shown.length ? chosen : tops.length > page.length ? page : undefined
  const goesOn = last === undefined ? from : (last.at(-1)?.top ?? 0)
  return { conversations, next: goesOn > 0 ? await findUid(db, goesOn) : undefined }
}

/** The first of them, as many as fit into an answer, and one at least. */
function fitting<One extends { readonly letters: readonly Letter[] }>(found: readonly One[]): One[] {
  let bytes = 0
  return found.filter(({ letters }, index) => {
    for (const { body } of letters) bytes += Buffer.byteLength(body)
    return index === 0 || bytes <= limits.conversationsBytes
  })
}

const idsOf = (rows: readonly { thread_id: number }[]): number[] => rows.map(({ thread_id }) => thread_id)

const messagesOf = ({ first, second, third }: ConversationRow): number[] =>
  [first, second, third].filter((id) => id !== null)

async function toListed(
  hub: Hub,
  agent: Agent,
  { row, letters, unread }: { row: ConversationRow; letters: readonly Letter[]; unread: number },
): Promise<Listed> {
  const { uid, subject, other, other_project } = row
  return {
    uid,
    subject: firstLine(subject),
    other: other === null ? '' : await addressFrom(hub, agent, { name: other, projectId: other_project ?? 0 }),
    unread: Number(unread),
    lastAt: letters[0]?.createdAt ?? 0,
    recent: letters,
  }
}

/** Messages by their ids; `most` cuts those that are longer. */
async function lettersOf(
  hub: Hub,
  agent: Agent,
  ids: readonly number[],
  most?: number,
): Promise<ReadonlyMap<number, Letter>> {
  const letters = new Map<number, Letter>()
  if (ids.length === 0) return letters
  const rows = await listLetters(reader(hub), { agentId: agent.id, ids, ...(most !== undefined && { most }) })
  for (const row of rows) letters.set(row.id, await toLetter(hub, agent, row, most))
  return letters
}

export async function toLetter(hub: Hub, agent: Agent, row: LetterRow, most?: number): Promise<Letter> {
  const long = most !== undefined && row.body.length > most && [...row.body].length > most
  return {
    uid: row.uid,
    from: await addressFrom(hub, agent, { name: row.sender, projectId: row.sender_project }),
    body: long ? `${[...row.body].slice(0, most - 1).join('')}…` : row.body,
    cut: long,
    createdAt: row.created_at,
    own: row.own === 1,
    read: row.is_read === 1,
    automatic: row.automatic === 1,
  }
}

export interface History {
  readonly uid: string
  readonly subject: string
  /** Newest first. */
  readonly letters: readonly Letter[]
  readonly more: boolean
  /** The automatic messages at the end of the conversation. */
  readonly automaticTurns: number
}

/**
 * The messages of a conversation that the agent sent or was sent. What it was sent and is shown here is read now, unless
 * the caller may only look.
 */
export async function readConversation(
  hub: Hub,
  acting: Acting,
  { uid, limit, before }: { uid: string; limit: number; before?: string | undefined },
): Promise<History> {
  const agent = await actAs(hub, acting)
  const thread = await needPart(hub, agent, uid)
  const bound = before === undefined ? undefined : await needOwn(hub, agent, before)
  if (bound !== undefined && bound.thread_id !== thread.id) throw noMessage(agent, before ?? '')
  const query = { threadId: thread.id, agentId: agent.id, before: bound?.seq, limit: limit + 1 }
  const found = await listHistory(reader(hub), query)
  const ids = within(found.slice(0, limit))
  const letters = await lettersOf(hub, agent, ids)
  const shown = ids.flatMap((id) => letters.get(id) ?? [])
  const marks = !acting.caller.readOnly
  const unread = ids.filter((id) => letters.get(id)?.read === false && letters.get(id)?.own === false)
  if (marks) await markAllRead(hub, acting, agent, unread)
  return {
    uid: thread.uid,
    subject: firstLine(thread.subject),
    letters: shown.map((letter) => ({ ...letter, read: letter.read || (marks && !letter.own) })),
    more: found.length > ids.length,
    automaticTurns: await countAutomatic(reader(hub), thread.id),
  }
}

/** The first of them, as many as fit into an answer, and one at least. */
function within(found: readonly { id: number; bytes: number }[]): number[] {
  let bytes = 0
  const fits = found.filter((row, index) => {
    bytes += Number(row.bytes)
    return index === 0 || bytes <= limits.answerBodyBytes
  })
  return fits.map(({ id }) => id)
}

async function markAllRead(hub: Hub, acting: Acting, agent: Agent, messageIds: readonly number[]): Promise<void> {
  if (messageIds.length === 0) return
  await commit(hub, acting.caller, async (tx, note) => {
    const read = await updateAllRead(tx, { recipientId: agent.id, messageIds, now: hub.clock.now() })
    if (read.length > 0) updateUnread(tx, agent.id, -read.length)
    for (const messageId of read) note({ kind: 'mail.read', projectId: agent.projectId, agentId: agent.id, messageId })
  })
}

/** A thread of mail that the agent has part in. */
export async function needPart(hub: Hub, agent: Agent, uid: string) {
  const thread = await findMailThreadOf(reader(hub), { uid, agentId: agent.id })
  if (thread === undefined) throw new HubError('THREAD_NOT_FOUND', `There is no conversation ${uid}.`)
  if (thread.mine !== 1) throw new HubError('FORBIDDEN', `${agent.name} has no part in this conversation.`)
  return thread
}

async function needOwn(hub: Hub, agent: Agent, uid: string) {
  const message = await findOwnMessage(reader(hub), agent.id, uid)
  if (message === undefined) throw noMessage(agent, uid)
  return message
}

export const noMessage = ({ name }: Agent, uid: string): HubError =>
  new HubError('MESSAGE_NOT_FOUND', `${name} has no message ${uid}.`)
