/** Conversations as an agent sees them: its threads of mail, by their newest message. */
import { limits } from '../../base/limits.ts'
import {
  type ConversationRow,
  findReach,
  listConversationRows,
  listOthers,
  listTops,
  listUnreadThreads,
  type TopRow,
} from '../../store/conversation-lists.ts'
import { findUid } from '../../store/conversations.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { addressFrom } from '../messages/addresses.ts'
import { needOwn } from './history.ts'
import { type Letter, recentLetters } from './letters.ts'
import { firstLine } from './messages.ts'

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
  const below = wish.before === undefined ? everything : (await needOwn(hub, agent, wish.before)).id
  // As long as the unread mail of the agent, which nobody bounds. The rest is read meanwhile.
  const counting = listUnreadThreads(longReader(hub), agent.id)
  const [counted, { shown, tops, page, from }] = await Promise.all([
    counting,
    find(hub, agent, { ...wish, below, unread: wish.unreadOnly ? await counting : undefined }),
  ])
  const unread = new Map(counted.map((row) => [row.thread_id, row.unread]))
  const chosen = fitting(shown)
  const others = await otherNames(hub, agent, chosen)
  const conversations = chosen
    .toSorted((a, b) => newestOf(b) - newestOf(a))
    .map(({ row, letters }) => toListed(row, letters, others.get(row.id) ?? '', unread.get(row.id) ?? 0))
  const last = chosen.length < shown.length ? chosen : tops.length > page.length ? page : undefined
  const goesOn = last === undefined ? from : (last.at(-1)?.top ?? 0)
  return { conversations, next: goesOn > 0 ? await findUid(reader(hub), goesOn) : undefined }
}

interface Shown {
  readonly row: ConversationRow
  /** The message by which it has its place in the list. */
  readonly top: number
  readonly letters: readonly Letter[]
}

interface Bounds {
  readonly below: number
  readonly limit: number
  /** The threads with unread mail, where only those are wanted. */
  readonly unread: readonly TopRow[] | undefined
}

async function find(hub: Hub, agent: Agent, { below, limit, unread }: Bounds) {
  const db = reader(hub)
  const from = unread ? 0 : await findReach(db, { agentId: agent.id, below })
  const tops = unread
    ? unread.filter(({ top }) => top < below).toSorted((a, b) => b.top - a.top)
    : await listTops(db, { agentId: agent.id, below, from, limit: limit + 1 })
  const page = tops.slice(0, limit)
  const rows = page.length === 0 ? [] : await listConversationRows(db, agent.id, idsOf(page))
  const recent = await recentLetters(hub, agent, rows)
  const topOf = new Map(page.map(({ thread_id, top }) => [thread_id, top]))
  const shown = rows
    .map((row): Shown => ({ row, top: topOf.get(row.id) ?? 0, letters: recent.get(row.id) ?? [] }))
    // A thread with a message past the bound was on an earlier page.
    .filter((one) => unread || newestOf(one) < below)
    .sort((a, b) => b.top - a.top)
  return { shown, tops, page, from }
}

/** The other side of each conversation, by the id of its thread: nearly always the last letter of another tells. */
async function otherNames(hub: Hub, agent: Agent, chosen: readonly Shown[]): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>()
  const silent: number[] = []
  for (const { row, letters } of chosen) {
    const other = letters.find(({ own }) => !own)
    if (other === undefined) silent.push(row.id)
    else names.set(row.id, other.from)
  }
  const rows = silent.length === 0 ? [] : await listOthers(reader(hub), agent.id, silent)
  for (const { thread_id, name, project_id: projectId } of rows)
    names.set(thread_id, await addressFrom(hub, agent, { name, projectId }))
  return names
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

const newestOf = ({ letters }: { readonly letters: readonly Letter[] }): number => letters[0]?.id ?? 0

const toListed = (
  { uid, subject }: ConversationRow,
  letters: readonly Letter[],
  other: string,
  unread: number,
): Listed => ({
  uid,
  subject: firstLine(subject),
  other,
  unread: Number(unread),
  lastAt: letters[0]?.createdAt ?? 0,
  recent: letters,
})
