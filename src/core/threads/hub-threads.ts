/** Threads as their readers at the hub see them: messages by `seq`, a page at a time, and the threads of one agent. */
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import {
  countUnreadMail,
  countUnseen,
  findLastSeen,
  findReadMark,
  findSubject,
  listSeen,
  listTexts,
  listThreadsById,
  listThreadsOfAgent,
  lowerReadMark,
  raiseReadMark,
  type ThreadRow,
  type ViewRow,
} from '../../store/threads/hub-threads.ts'
import type { Sight } from '../../store/visibility.ts'
import { hubSight } from '../access/rules.ts'
import { type Trust, trustOf } from '../contacts/trust.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { markShown } from '../mail/shown.ts'
import { threadChannel } from '../messages/placing.ts'
import { type Attachment, listAttachments } from '../messages/stored-attachments.ts'
import { slugOfProject } from '../projects/projects.ts'
import { type HubCaller, type HubReader, hubReaderOf, needSeen, waiterOf } from './hub-readers.ts'
import { listParticipants } from './participants.ts'

export interface SeenMessage {
  readonly id: number
  readonly seq: number
  /** As somebody of the reader's project addresses it. */
  readonly from: string
  /** The standing of its sender with the one who looks. */
  readonly trust: Trust
  readonly text: string
  /** Where the text goes on, if this is not all of it. */
  readonly nextOffset: number | undefined
  readonly replyTo: number | undefined
  /** How many messages in a row, up to this one, were written by agents that were woken. */
  readonly hops: number
  readonly createdAt: number
  readonly attachments: readonly Attachment[]
  /** How it left a mailbox unread, where it did. */
  readonly ended: ViewRow['ended']
}

export interface ThreadPage {
  readonly thread: string
  readonly subject: string
  readonly status: 'open' | 'closed'
  readonly participants: readonly string[]
  readonly messages: readonly SeenMessage[]
  /** The `seq` after which the next page begins. */
  readonly next: number
  readonly more: boolean
  /** For an answer that never reached its client: the messages count as unread again. */
  putBack(): Promise<void>
}

interface PageWish {
  readonly thread: string
  readonly after: number
  readonly limit: number
  /** Where the text of the first message begins. */
  readonly offset?: number | undefined
  readonly waitMs?: number | undefined
  readonly signals?: readonly AbortSignal[]
  /** Where somebody waits. */
  readonly door?: string | undefined
}

/** The next messages of a thread, oldest first; with a wait, as soon as there are some. */
export async function viewThread(hub: Hub, hubCaller: HubCaller, wish: PageWish): Promise<ThreadPage> {
  const { after, limit, offset = 0, waitMs = 0, signals = [], door } = wish
  const hubReader = await hubReaderOf(hub, hubCaller)
  let seen = await needSeen(hub, hubReader, wish.thread)
  const { thread } = seen
  let rows: ViewRow[] | undefined
  const waiter = waiterOf(hubCaller, hubReader)
  const waiting = { channel: threadChannel(thread.id), ms: waitMs, signals, door, waiter }
  await wait(hub, waiting, async () => {
    // A grant may end while its holder waits.
    if (rows !== undefined) seen = await needSeen(hub, hubReader, wish.thread)
    const part = { threadId: thread.id, sight: seen.sight, after }
    rows = await listSeen(reader(hub), part, { agentId: hubReader.agent?.id, limit: limit + 1, now: hub.clock.now() })
    return rows.length > 0 ? { found: true } : {}
  })
  const found = rows ?? []
  const page = fitting(found.slice(0, limit))
  const messages = await seenMessages(hub, hubReader, page, offset)
  const next = page.at(-1)?.seq ?? after
  const { sight } = seen
  return {
    thread: thread.called,
    subject: await subjectOf(hub, thread, sight),
    status: seen.thread.status,
    participants: await listParticipants(hub, { thread: seen.thread, sight, home: hubReader.project.id }),
    messages,
    next,
    more: found.length > page.length,
    putBack: await markGiven(hub, hubCaller, { hubReader, thread, page }),
  }
}

const subjectOf = async (hub: Hub, { id, topic }: ThreadRow, sight: Sight): Promise<string> =>
  topic ?? firstLine(await findSubject(reader(hub), id, sight))

/** As many as one answer holds; a single text always fits. */
function fitting(rows: readonly ViewRow[]): ViewRow[] {
  let bytes = 0
  const page: ViewRow[] = []
  for (const row of rows) {
    bytes += Math.min(Number(row.bytes), limits.textPartLength)
    if (page.length > 0 && bytes > limits.answerBodyBytes) break
    page.push(row)
  }
  return page
}

export async function seenMessages(
  hub: Hub,
  { project }: Pick<HubReader, 'project'>,
  rows: readonly ViewRow[],
  offset = 0,
): Promise<SeenMessage[]> {
  const texts = await listTexts(
    reader(hub),
    rows.map(({ id }) => id),
  )
  const attachments = await listAttachments(reader(hub), rows, { most: 0 })
  const messages: SeenMessage[] = []
  for (const [index, row] of rows.entries()) {
    const { text, nextOffset } = partOf(texts.get(row.id) ?? '', index === 0 ? offset : 0)
    messages.push({
      id: row.id,
      seq: row.seq,
      from: await addressOf(hub, project.id, row.sender, row.sender_project),
      trust: trustOf(row, project.id),
      text,
      nextOffset,
      replyTo: row.reply_to ?? undefined,
      hops: row.hops,
      createdAt: row.created_at,
      attachments: attachments.get(row.id) ?? [],
      ended: row.ended,
    })
  }
  return messages
}

export const addressOf = async (hub: Hub, home: number, name: string, projectId: number): Promise<string> =>
  projectId === home ? name : `${name}@${await slugOfProject(hub, projectId)}`

/** A part of a long text, which breaks no character in two (hub.thread.parts). */
export function partOf(text: string, offset: number): { text: string; nextOffset: number | undefined } {
  if (offset === 0 && text.length <= limits.textPartLength) return { text, nextOffset: undefined }
  const broken = (at: number) => /[\uDC00-\uDFFF]/.test(text[at] ?? '')
  const start = broken(offset) ? offset - 1 : offset
  let end = Math.min(text.length, start + limits.textPartLength)
  if (end < text.length && broken(end)) end--
  return { text: text.slice(start, end), nextOffset: end < text.length ? end : undefined }
}

/** Marks the agent's mail as read, and in a topic how far the agent was shown it (hub.unread.one). */
async function markGiven(
  hub: Hub,
  { caller }: HubCaller,
  { hubReader: { agent }, thread, page }: { hubReader: HubReader; thread: ThreadRow; page: readonly ViewRow[] },
): Promise<() => Promise<void>> {
  const seq = page.at(-1)?.seq
  if (agent === undefined || seq === undefined || caller.readOnly) return async () => {}
  if (thread.topic === null) return markShown(hub, caller, agent, unreadOf(page))
  const to = await findReadMark(reader(hub), agent.id, thread.id)
  if (to >= seq) return async () => {}
  const mark = { agentId: agent.id, threadId: thread.id }
  await commit(hub, caller, (tx) => raiseReadMark(tx, { ...mark, seq }))
  return () => commit(hub, caller, (tx) => lowerReadMark(tx, { ...mark, from: seq, to }))
}

export const unreadOf = (rows: readonly ViewRow[]): number[] =>
  rows.filter(({ unread }) => Number(unread) > 0).map(({ id }) => id)

export interface OwnThread {
  readonly thread: string
  readonly subject: string
  readonly lastSeq: number
  /** Mail that the agent has not read at any door; in a topic, messages of others that it was not given. */
  readonly unread: number
}

interface OwnThreads {
  readonly threads: readonly OwnThread[]
  /** The id of the message before which the next page begins, if there is one. */
  readonly next: number | undefined
}

/** Past this many a number of messages that were not given says no more. */
const mostCounted = 1000

/** The threads of the agent that looks, those with the newest messages first. */
export async function listOwnThreads(
  hub: Hub,
  hubCaller: HubCaller,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
): Promise<OwnThreads> {
  const { agent } = await hubReaderOf(hub, hubCaller)
  if (agent === undefined) return { threads: [], next: undefined }
  const sight = hubSight(agent.id)
  // Some of them may have newer messages, and stand on a page before this one.
  const ids = [...new Set(await listThreadsOfAgent(reader(hub), { agentId: agent.id, before, limit: limit * 4 }))]
  const rows = new Map((await listThreadsById(reader(hub), ids)).map((row) => [row.id, row]))
  const unread = await countUnreadMail(longReader(hub), agent.id)
  const unreadIn = async ({ id, topic }: ThreadRow): Promise<number> => {
    if (topic === null) return unread.get(id) ?? 0
    const after = await findReadMark(reader(hub), agent.id, id)
    return countUnseen(reader(hub), { threadId: id, sight, after }, { notBy: agent.id, most: mostCounted })
  }
  const threads: OwnThread[] = []
  let next: number | undefined
  for (const id of ids) {
    const [thread, last] = [rows.get(id), await findLastSeen(reader(hub), id, sight)]
    if (thread === undefined || (last?.last_id ?? 0) >= before) continue
    if (threads.length === limit) return { threads, next }
    threads.push({
      thread: thread.called,
      subject: await subjectOf(hub, thread, sight),
      lastSeq: last?.last_seq ?? 0,
      unread: await unreadIn(thread),
    })
    next = last?.last_id
  }
  return { threads, next: ids.length === limit * 4 ? next : undefined }
}
