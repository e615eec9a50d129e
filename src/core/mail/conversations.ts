/** Conversations as an agent sees them: its threads of mail, by their newest message. */
import { limits } from '../../base/limits.ts'
import {
  type ConversationRow,
  findReach,
  listConversationRows,
  listTops,
  listUnreadThreads,
} from '../../store/conversation-lists.ts'
import { findUid } from '../../store/conversations.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { addressWith, slugsOf } from '../messages/addresses.ts'
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
  const recent = await recentLetters(hub, agent, rows)
  const topOf = new Map(page.map(({ thread_id, top }) => [thread_id, top]))
  const shown = rows
    .map((row) => ({ row, top: topOf.get(row.id) ?? 0, letters: recent.get(row.id) ?? [] }))
    // A thread with a message past the bound was on an earlier page.
    .filter((one) => wish.unreadOnly || newestOf(one) < below)
    .sort((a, b) => b.top - a.top)
  const chosen = fitting(shown)
  const slugs = await slugsOf(hub, agent.projectId, new Set(chosen.flatMap(({ row }) => row.other_project ?? [])))
  const conversations = chosen
    .toSorted((a, b) => newestOf(b) - newestOf(a))
    .map((one) => toListed(slugs, { ...one, unread: unread.get(one.row.id)?.unread ?? 0 }))
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

const newestOf = ({ letters }: { readonly letters: readonly Letter[] }): number => letters[0]?.id ?? 0

function toListed(
  slugs: ReadonlyMap<number, string>,
  { row, letters, unread }: { row: ConversationRow; letters: readonly Letter[]; unread: number },
): Listed {
  const { uid, subject, other, other_project } = row
  return {
    uid,
    subject: firstLine(subject),
    other: other === null ? '' : addressWith(slugs, other, other_project ?? 0),
    unread: Number(unread),
    lastAt: letters[0]?.createdAt ?? 0,
    recent: letters,
  }
}
