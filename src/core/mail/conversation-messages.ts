/** Messages of conversations, as one of their parties sees them. */
import { limits } from '../../base/limits.ts'
import type { Reader } from '../../db/port.ts'
import {
  type ConversationMessageRow,
  type ConversationRow,
  listConversationMessages,
  listLastMessages,
  listNewest,
  listSenders,
  type PartyRow,
  type Reading,
} from '../../store/mail/conversation-lists.ts'
import type { Agent } from '../agents/agents.ts'
import { type Trust, trustOf } from '../contacts/trust.ts'

export interface ConversationMessage {
  readonly id: number
  readonly uid: string
  readonly from: string
  /** The standing of its sender with the agent; undefined of the agent's own. */
  readonly trust: Trust | undefined
  readonly body: string
  /** Whether the body goes on: it was too long for a list. */
  readonly cut: boolean
  readonly createdAt: number
  /** Whether the agent itself has written it. */
  readonly own: boolean
  /** Of the agent's own message, whether all to whom it openly went have read it. */
  readonly read: boolean
  readonly automatic: boolean
  /** Woken messages in a row that end with this one. */
  readonly hops: number
}

/** The agent that sees them, and when. */
export type Party = Pick<Agent, 'id' | 'projectId'> & { readonly now: number }

/** Whole messages by their ids. */
export async function listMessagesOf(
  db: Reader,
  party: Party,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ConversationMessage>> {
  const rows = ids.length === 0 ? [] : await listConversationMessages(db, { agentId: party.id }, ids)
  const from = await sendersOf(db, party, rows)
  return new Map(rows.map((row) => [row.id, toMessage(from, party, row)]))
}

/**
 * The newest messages of each conversation by the id of its thread, the newest first, cut to what a list has room for.
 * They are the last of the thread, unless it hides some of those from the agent: then they are looked for behind them.
 */
export async function listRecentMessages(
  db: Reader,
  party: Party,
  conversations: readonly ConversationRow[],
): Promise<ReadonlyMap<number, readonly ConversationMessage[]>> {
  if (conversations.length === 0) return new Map()
  const [last, most] = [limits.recentMessages, limits.postBodyLength]
  const reading: Reading = { agentId: party.id, most }
  const found = await listLastMessages(db, reading, { threadIds: idsOf(conversations), last })
  const seen = Map.groupBy(found, (row) => row.thread_id)
  const hiding = conversations.filter(({ id, messages }) => (seen.get(id)?.length ?? 0) < Math.min(last, messages))
  const behind = hiding.length === 0 ? [] : await listNewest(db, party.id, idsOf(hiding))
  const others = behind.length === 0 ? [] : await listConversationMessages(db, reading, behind)
  for (const [thread, rows] of Map.groupBy(others, (row) => row.thread_id)) seen.set(thread, rows)
  const from = await sendersOf(db, party, found, others)
  const newestFirst = (rows: readonly ConversationMessageRow[]) =>
    rows.toSorted((a, b) => b.id - a.id).map((row) => toMessage(from, party, row, most))
  return new Map([...seen].map(([thread, rows]) => [thread, newestFirst(rows)]))
}

const idsOf = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id)

/** `addressFrom` of an agent whose project is known. */
export const addressOf = ({ projectId }: Pick<Party, 'projectId'>, { name, project_id, slug }: PartyRow): string =>
  project_id === projectId ? name : `${name}@${slug}`

interface Sender {
  readonly address: string
  readonly trust: Trust
}

/** The senders of the messages, by their ids. */
async function sendersOf(
  db: Reader,
  party: Party,
  ...lists: readonly (readonly ConversationMessageRow[])[]
): Promise<ReadonlyMap<number, Sender>> {
  const ids = new Set<number>()
  for (const rows of lists) for (const { sender_id } of rows) ids.add(sender_id)
  const senders = ids.size === 0 ? [] : await listSenders(db, [...ids], { reader: party.id, now: party.now })
  const trust = ({ name: sender, project_id: sender_project, contact }: (typeof senders)[number]) =>
    trustOf({ sender, sender_project, contact }, party.projectId)
  return new Map(senders.map((row) => [row.id, { address: addressOf(party, row), trust: trust(row) }]))
}

function toMessage(
  senders: ReadonlyMap<number, Sender>,
  party: Party,
  row: ConversationMessageRow,
  most?: number,
): ConversationMessage {
  const long = most !== undefined && row.body.length > most && [...row.body].length > most
  const own = row.sender_id === party.id
  const sender = senders.get(row.sender_id)
  return {
    id: row.id,
    uid: row.uid,
    from: sender?.address ?? '',
    trust: own ? undefined : sender?.trust,
    body: long ? `${[...row.body].slice(0, most - 1).join('')}…` : row.body,
    cut: long,
    createdAt: row.created_at,
    own,
    read: row.is_read === 1,
    automatic: row.automatic === 1,
    hops: row.hops,
  }
}
