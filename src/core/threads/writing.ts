/** Writing at the hub: into a thread that the sender sees, or a new one; and waiting for the answers. */
import { HubError } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import { findMessageId, findUid } from '../../store/messages/messages.ts'
import { findPlaceOf, listThreadsById } from '../../store/threads/hub-threads.ts'
import type { Acting } from '../agents/acting.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { beginWait } from '../hub/waits.ts'
import { markShown } from '../mail/shown.ts'
import { type Address, type Sent, send } from '../messages/send.ts'
import { findProjectElsewhere } from '../projects/projects.ts'
import { remark } from '../topics/remarks.ts'
import {
  actingOf,
  findHubReader,
  findSeen,
  type HubCaller,
  type HubReader,
  hubReaderOf,
  needSeen,
  noThread,
  type Seen,
  waiterOf,
} from './hub-readers.ts'
import { addressOf, type SeenMessage, seenMessages, unreadOf } from './hub-threads.ts'
import { awaitAnswers, type Patience } from './replies.ts'

interface HubDraft {
  readonly to: readonly Address[]
  /** Whether the sender is left out where it stands among the recipients. */
  readonly toOthers?: boolean
  readonly text: string
  /** A thread that the sender sees; without one the message begins a new one. */
  readonly thread?: string | undefined
  readonly replyTo?: number | undefined
  readonly clientId?: string | undefined
  readonly links?: readonly string[] | undefined
  readonly seenThrough?: number | undefined
  readonly ttlMs?: number | undefined
}

export interface Written {
  readonly messageId: number
  readonly thread: string
  readonly seq: number
  readonly createdAt: number
  /** Nothing for what was said in a topic: it goes to all who joined. */
  readonly sent?: Sent | undefined
}

export async function write(hub: Hub, hubCaller: HubCaller, draft: HubDraft): Promise<Written> {
  const acting = await actingOf(hub, hubCaller)
  const seen = await placeOf(hub, hubCaller, draft)
  if (seen !== undefined && !seen.mayWrite)
    throw new HubError('FORBIDDEN', `You may read the thread ${JSON.stringify(seen.thread.called)}, not write to it.`, {
      reason: 'read_only',
      hint: 'Ask one of its participants to grant you "write", or begin a new thread.',
    })
  if (seen !== undefined && seen.thread.topic !== null) return say(hub, acting, seen, draft)
  const { text: body, replyTo, clientId, links, seenThrough, ttlMs } = draft
  const to = draft.toOthers ? await othersOf(hub, acting, draft.to) : draft.to
  const message = { to, body, threadId: seen?.thread.id, replyTo, clientId, links, seenThrough, ttlMs }
  const sent = await send(hub, acting, message)
  const { messageId, seq, createdAt } = sent
  return { messageId, thread: await nameOf(hub, sent, seen), seq, createdAt, sent }
}

async function othersOf(hub: Hub, { caller, project, name }: Acting, to: readonly Address[]): Promise<Address[]> {
  const others: Address[] = []
  for (const address of to) {
    const named = nameKey(address.name) === nameKey(name)
    const slugs = named && address.project !== undefined ? [address.project, project] : []
    const [there, here] = await Promise.all(slugs.map((slug) => findProjectElsewhere(hub, caller, slug)))
    if (!named || there?.id !== here?.id) others.push(address)
  }
  if (others.length > 0) return others
  throw new HubError('INVALID_ARGUMENT', 'A broadcast needs a recipient other than its sender.', {
    hint: 'Nothing was sent. Name at least one other agent in "to".',
  })
}

/** A retry is in the thread of the first send. */
async function nameOf(
  hub: Hub,
  { messageId, threadId, duplicate, seq }: Sent,
  seen: Seen | undefined,
): Promise<string> {
  if (seen !== undefined && !duplicate) return seen.thread.called
  if (!duplicate && seq === 1) return String(messageId)
  const [thread] = await listThreadsById(reader(hub), [threadId])
  return thread?.called ?? String(messageId)
}

/** The thread that a draft names, or that of the message it answers. */
async function placeOf(hub: Hub, hubCaller: HubCaller, { thread, replyTo }: HubDraft): Promise<Seen | undefined> {
  if (thread === undefined && replyTo === undefined) return undefined
  const hubReader = await hubReaderOf(hub, hubCaller).catch((error: unknown) => {
    // In a project that is not there, no thread is there either.
    if (error instanceof HubError && error.code === 'PROJECT_NOT_FOUND' && thread !== undefined) throw noThread(thread)
    throw error
  })
  const named = thread === undefined ? undefined : await needSeen(hub, hubReader, thread)
  if (replyTo === undefined) return named
  const answered = await findAnswered(hub, hubReader, replyTo)
  if (answered === undefined) throw new HubError('MESSAGE_NOT_FOUND', `You can see no message ${replyTo}.`)
  if (named !== undefined && named.thread.id !== answered.thread.id)
    throw new HubError('INVALID_ARGUMENT', `Message ${replyTo} is not in the thread ${JSON.stringify(thread)}.`, {
      reason: 'no_reply_target',
      hint: 'Nothing was sent. Leave thread out to answer where the message is.',
    })
  return named ?? answered
}

async function findAnswered(hub: Hub, hubReader: HubReader, messageId: number): Promise<Seen | undefined> {
  const place = await findPlaceOf(reader(hub), messageId)
  return place && findSeen(hub, hubReader, place.thread_id)
}

/** A message in a topic is for all who joined it: nobody is addressed. */
async function say(hub: Hub, acting: Acting, { thread }: Seen, draft: HubDraft): Promise<Written> {
  const { text: body, replyTo, clientId } = draft
  if (draft.ttlMs !== undefined)
    throw new HubError('INVALID_ARGUMENT', 'A message of a topic cannot expire: it has no recipient.', {
      hint: 'Nothing was said. Leave ttl_seconds out, or write to an agent.',
    })
  const replyToUid = replyTo === undefined ? undefined : await findUid(reader(hub), replyTo)
  const { message } = await remark(hub, acting, {
    topic: { uid: thread.uid, projectId: thread.project_id },
    outgoing: { body, kind: 'message', replyToUid, clientId },
  })
  const messageId = (await findMessageId(reader(hub), thread.id, message.uid)) ?? 0
  return { messageId, thread: thread.called, seq: message.seq, createdAt: message.createdAt }
}

/** Sends, and waits for the answers. What is refused its wait is not sent. */
export async function writeAndAwait(
  hub: Hub,
  hubCaller: HubCaller,
  draft: HubDraft,
  patience: Patience,
): Promise<{ written: Written; answers: Answers }> {
  const waits = patience.waitMs > 0 && patience.limitMs === undefined
  const endWait = waits ? beginWait(hub, waiterOf(hubCaller, await findHubReader(hub, hubCaller))) : () => {}
  try {
    const written = await write(hub, hubCaller, draft)
    const answers = await awaitReplies(hub, hubCaller, written.messageId, { ...patience, counted: waits })
    return { written, answers }
  } finally {
    endWait()
  }
}

export interface Answers {
  readonly messageId: number
  readonly thread: string
  /** The first of each agent that answered, in order. */
  readonly replies: readonly SeenMessage[]
  /** The agents that did not, as their sender addresses them. */
  readonly missing: readonly string[]
  /** For an answer that never reached its client: the replies count as unread again. */
  putBack(): Promise<void>
}

/** The answers to a message of one's own, once all have answered or the time is up. */
export async function awaitReplies(
  hub: Hub,
  hubCaller: HubCaller,
  messageId: number,
  patience: Patience,
): Promise<Answers> {
  const hubReader = await hubReaderOf(hub, hubCaller)
  const place = await findPlaceOf(reader(hub), messageId)
  const seen = place && (await findSeen(hub, hubReader, place.thread_id))
  const { agent } = hubReader
  if (place === undefined || seen === undefined || agent === undefined || place.sender_id !== agent.id)
    throw new HubError('MESSAGE_NOT_FOUND', `You have sent no message ${messageId}.`)
  const isTask = patience.limitMs !== undefined
  // That of a task is never refused: the task was let in.
  const waiter = isTask ? undefined : waiterOf(hubCaller, hubReader)
  const { thread, sight } = seen
  const question = { agentId: agent.id, messageId, threadId: thread.id, seq: place.seq, sight, waiter }
  const { rows, asked } = await awaitAnswers(hub, question, patience)
  const answered = new Set(rows.map(({ sender_id }) => sender_id))
  const missing: string[] = []
  for (const { id, name, project_id } of asked)
    if (!answered.has(id)) missing.push(await addressOf(hub, hubReader.project.id, name, project_id))
  return {
    messageId,
    thread: thread.called,
    replies: await seenMessages(hub, hubReader, rows),
    missing,
    // Nobody has seen the result of a task yet, and perhaps nobody fetches it (hub.tasks.unread).
    putBack: await markShown(hub, hubCaller.caller, agent, isTask ? [] : unreadOf(rows)),
  }
}

/** Marks the replies in the result of a task, once it is handed out. Returns the way back, for an answer that is lost. */
export async function markReplies(
  hub: Hub,
  hubCaller: HubCaller,
  messageIds: readonly number[],
): Promise<() => Promise<void>> {
  const { agent } = await hubReaderOf(hub, hubCaller)
  return agent === undefined ? async () => {} : markShown(hub, hubCaller.caller, agent, messageIds)
}
