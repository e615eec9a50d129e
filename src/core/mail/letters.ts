/** Letters: messages as one of their parties sees them. */
import { limits } from '../../base/limits.ts'
import {
  type ConversationRow,
  type LetterRow,
  listLastLetters,
  listLetters,
  listNewest,
  listSenders,
  type Reading,
} from '../../store/conversation-lists.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addressWith, slugsOf } from '../messages/addresses.ts'

export interface Letter {
  readonly id: number
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

/** Whole messages by their ids. */
export async function lettersOf(hub: Hub, agent: Agent, ids: readonly number[]): Promise<ReadonlyMap<number, Letter>> {
  const rows = ids.length === 0 ? [] : await listLetters(reader(hub), { agentId: agent.id }, ids)
  const from = await addressesOf(hub, agent, rows)
  return new Map(rows.map((row) => [row.id, toLetter(from, agent, row)]))
}

/**
 * The newest messages of each conversation by the id of its thread, the newest first, cut to what a list has room for.
 * They are the last of the thread, unless it hides some of those from the agent: then they are looked for behind them.
 */
export async function recentLetters(
  hub: Hub,
  agent: Agent,
  conversations: readonly ConversationRow[],
): Promise<ReadonlyMap<number, readonly Letter[]>> {
  if (conversations.length === 0) return new Map()
  const db = reader(hub)
  const [last, most] = [limits.recentMessages, limits.postBodyLength]
  const reading: Reading = { agentId: agent.id, most }
  const found = await listLastLetters(db, reading, { threadIds: idsOf(conversations), last })
  const seen = Map.groupBy(found, (row) => row.thread_id)
  const hiding = conversations.filter(({ id, messages }) => (seen.get(id)?.length ?? 0) < Math.min(last, messages))
  const behind = hiding.length === 0 ? [] : await listNewest(db, agent.id, idsOf(hiding))
  const others = behind.length === 0 ? [] : await listLetters(db, reading, behind)
  for (const [thread, rows] of Map.groupBy(others, (row) => row.thread_id)) seen.set(thread, rows)
  const from = await addressesOf(hub, agent, found, others)
  const newestFirst = (rows: readonly LetterRow[]) =>
    rows.toSorted((a, b) => b.id - a.id).map((row) => toLetter(from, agent, row, most))
  return new Map([...seen].map(([thread, rows]) => [thread, newestFirst(rows)]))
}

const idsOf = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id)

/** The addresses of those who wrote the letters, by their ids. */
async function addressesOf(
  hub: Hub,
  { projectId }: Agent,
  ...lists: readonly (readonly LetterRow[])[]
): Promise<ReadonlyMap<number, string>> {
  const ids = new Set<number>()
  for (const rows of lists) for (const { sender_id } of rows) ids.add(sender_id)
  const senders = ids.size === 0 ? [] : await listSenders(reader(hub), [...ids])
  const slugs = await slugsOf(hub, projectId, new Set(senders.map((sender) => sender.project_id)))
  return new Map(senders.map(({ id, name, project_id }) => [id, addressWith(slugs, name, project_id)]))
}

function toLetter(from: ReadonlyMap<number, string>, agent: Agent, row: LetterRow, most?: number): Letter {
  const long = most !== undefined && row.body.length > most && [...row.body].length > most
  return {
    id: row.id,
    uid: row.uid,
    from: from.get(row.sender_id) ?? '',
    body: long ? `${[...row.body].slice(0, most - 1).join('')}…` : row.body,
    cut: long,
    createdAt: row.created_at,
    own: row.sender_id === agent.id,
    read: row.is_read === 1,
    automatic: row.automatic === 1,
  }
}
