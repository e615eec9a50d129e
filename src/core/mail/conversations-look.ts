/** How a page of conversations is read, in the thread that reads where there is one (`Look` in db/port.ts). */
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import type { Reader } from '../../db/port.ts'
import {
  type ConversationRow,
  findReach,
  listConversationRows,
  listOthers,
  listTops,
  listUnreadThreads,
  type TopRow,
} from '../../store/mail/conversation-lists.ts'
import { findUid } from '../../store/mail/conversations.ts'
import { addressOf, type ConversationMessage, listRecentMessages, type Party } from './conversation-messages.ts'

export interface Listed {
  readonly uid: string
  readonly subject: string
  readonly other: string
  readonly unread: number
  readonly lastAt: number
  /** Newest first. */
  readonly recent: readonly ConversationMessage[]
}

export interface ConversationPage {
  readonly conversations: readonly Listed[]
  /** The message from which the next page goes on. */
  readonly next: string | undefined
}

interface Wish {
  readonly party: Party
  readonly unreadOnly: boolean
  readonly limit: number
  /** Only messages with a lower id. */
  readonly below: number
}

export async function look(db: Reader, { party, below, limit, unreadOnly }: Wish): Promise<ConversationPage> {
  // As long as the unread mail of the agent, which nobody bounds.
  const counted = await listUnreadThreads(db, party.id)
  const bounds = { below, limit, unread: unreadOnly ? counted : undefined }
  const { shown, tops, page, from } = await find(db, party, bounds)
  const unread = new Map(counted.map((row) => [row.thread_id, row.unread]))
  const chosen = fitting(shown)
  const others = await otherNames(db, party, chosen)
  const conversations = chosen
    .toSorted((a, b) => newestOf(b) - newestOf(a))
    .map(({ row, messages }) => toListed(row, messages, others.get(row.id) ?? '', unread.get(row.id) ?? 0))
  const last = chosen.length < shown.length ? chosen : tops.length > page.length ? page : undefined
  const goesOn = last === undefined ? from : (last.at(-1)?.top ?? 0)
  return { conversations, next: goesOn > 0 ? await findUid(db, goesOn) : undefined }
}

interface Shown {
  readonly row: ConversationRow
  /** The message by which it has its place in the list. */
  readonly top: number
  readonly messages: readonly ConversationMessage[]
}

interface Bounds {
  readonly below: number
  readonly limit: number
  /** The threads with unread mail, where only those are wanted. */
  readonly unread: readonly TopRow[] | undefined
}

async function find(db: Reader, party: Party, { below, limit, unread }: Bounds) {
  const agentId = party.id
  const from = unread ? 0 : await findReach(db, { agentId, below })
  const tops = unread
    ? unread.filter(({ top }) => top < below).toSorted((a, b) => b.top - a.top)
    : await listTops(db, { agentId, below, from, limit: limit + 1 })
  const page = tops.slice(0, limit)
  const rows = page.length === 0 ? [] : await listConversationRows(db, agentId, idsOf(page))
  const recent = await listRecentMessages(db, party, rows)
  const topOf = new Map(page.map(({ thread_id, top }) => [thread_id, top]))
  const shown = rows
    .map((row): Shown => ({ row, top: topOf.get(row.id) ?? 0, messages: recent.get(row.id) ?? [] }))
    // A thread with a message past the bound was on an earlier page.
    .filter((one) => unread || newestOf(one) < below)
    .sort((a, b) => b.top - a.top)
  return { shown, tops, page, from }
}

/** The other side of each conversation, by the id of its thread: nearly always the last letter of another tells. */
async function otherNames(db: Reader, party: Party, chosen: readonly Shown[]): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>()
  const silent: number[] = []
  for (const { row, messages } of chosen) {
    const other = messages.find(({ own }) => !own)
    if (other === undefined) silent.push(row.id)
    else names.set(row.id, other.from)
  }
  const rows = silent.length === 0 ? [] : await listOthers(db, party.id, silent)
  for (const row of rows) names.set(row.thread_id, addressOf(party, row))
  return names
}

/** The first of them, as many as fit into an answer, and one at least. */
function fitting<One extends { readonly messages: readonly ConversationMessage[] }>(found: readonly One[]): One[] {
  let bytes = 0
  return found.filter(({ messages }, index) => {
    for (const { body } of messages) bytes += Buffer.byteLength(body)
    return index === 0 || bytes <= limits.conversationsBytes
  })
}

const idsOf = (rows: readonly { thread_id: number }[]): number[] => rows.map(({ thread_id }) => thread_id)

const newestOf = ({ messages }: { readonly messages: readonly ConversationMessage[] }): number => messages[0]?.id ?? 0

const toListed = (
  { uid, subject }: ConversationRow,
  messages: readonly ConversationMessage[],
  other: string,
  unread: number,
): Listed => ({
  uid,
  subject: firstLine(subject),
  other,
  unread: Number(unread),
  lastAt: messages[0]?.createdAt ?? 0,
  recent: messages,
})
