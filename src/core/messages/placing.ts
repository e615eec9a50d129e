/** The place of a message: the thread that it joins, and the message that was stored before if it is sent again. */
import type { Reader } from '../../db/port.ts'
import { type About, lockConversation } from '../../store/mail/conversations.ts'
import {
  type ClientId,
  findByClientId,
  findReceived,
  findRepeated,
  type NamedRow,
} from '../../store/messages/client-ids.ts'
import { findInThread } from '../../store/messages/messages.ts'
import { findMailThread, findThreadOf, lockThread, type MailThreadRow } from '../../store/threads/mail-threads.ts'
import type { Agent } from '../agents/agents.ts'
import type { Recipient } from './recipients.ts'

/** How the wake-up channels of threads begin. */
export const threadChannels = 'thread:'

/** The wake-up channel of a thread. */
export const threadChannel = (threadId: number): string => `${threadChannels}${threadId}`

/** Wakes the process that takes expired mail out of mailboxes: there is a message with a time to live. */
export const expiryChannel = 'expiry'

interface Placing {
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  readonly draft: {
    readonly body: string
    readonly thread?: string | undefined
    readonly threadId?: number | undefined
    readonly replyTo?: number | undefined
    readonly clientId?: string | undefined
    readonly mayAnswer?: boolean | undefined
    readonly conversation?: Conversation | undefined
  }
}

/** The conversation that a message belongs to: a thread that is known, or the one of two agents about a subject. */
export interface Conversation {
  /** The thread itself, where it is known to be filed. */
  readonly thread?: Joined | undefined
  readonly threadId?: number | undefined
  /** Without case: of all messages between the two about the same subject it is the same. */
  readonly about?: { readonly otherId: number; readonly key: string } | undefined
}

/** The thread that a message joins. `filed`: it was found as the conversation about a subject. */
export type Joined = MailThreadRow & { readonly filed?: boolean }

export interface Placement {
  /** None if it begins one. */
  readonly thread: Joined | undefined
  /** The message that was stored before, if this is a retry. */
  readonly before?: { readonly id: number } | undefined
  readonly replyTo?: number | undefined
  /** The client id is that of another message of the sender: in this thread (`taken`), or to the same recipient (`used`). */
  readonly named?: 'taken' | 'used' | undefined
}

/** The thread and the earlier message are asked for at once: on PostgreSQL that is one round trip less. */
export async function findPlacement(db: Reader, placing: Placing): Promise<Placement> {
  const { draft, sender, recipients } = placing
  const { clientId } = draft
  if (clientId === undefined) return { thread: await findJoined(db, placing), replyTo: draft.replyTo }
  const name = { senderId: sender.id, recipientIds: recipients.map(({ agent }) => agent.id), clientId }
  const [joined, first] = await Promise.all([findAnswering(db, placing), findByClientId(db, name, draft.body)])
  const { thread, replyTo } = joined
  if (draft.mayAnswer) return findPlacementOfAnswer(db, { ...placing, name }, { joined, first })
  if (first !== undefined || thread === undefined) return { thread, replyTo, before: first }
  return { thread, replyTo, before: await findInThread(db, { ...name, threadId: thread.id }) }
}

interface Answering {
  readonly thread: Joined | undefined
  readonly replyTo?: number | undefined
}

/**
 * Where the id may be that of the message that is answered, each turn of a conversation may come under the same one. A retry is
 * then what has the same words too; other words are another message, in the same thread (mailbox.send.other-words).
 */
async function findPlacementOfAnswer(
  db: Reader,
  { draft, name }: Pick<Placing, 'draft'> & { readonly name: ClientId },
  { joined, first }: { joined: Answering; first: NamedRow | undefined },
): Promise<Placement> {
  if (first === undefined) {
    const { thread } = joined
    const other = thread && (await findInThread(db, { ...name, threadId: thread.id }))
    return { ...joined, named: other && 'taken' }
  }
  const before = first.same === 1 ? first : await findRepeated(db, name, draft.body)
  const thread = joined.thread ?? (await findThreadOf(db, first.id))
  // An id that comes again says in which conversation the answer is, and no longer to which message.
  return { thread, before, replyTo: draft.replyTo, named: 'used' }
}

/** By what the draft names, else by its client id: whoever goes by the id of a message answers it. */
async function findAnswering(db: Reader, placing: Placing): Promise<Answering> {
  const { sender, recipients, draft } = placing
  const { conversation, threadId, replyTo, thread, clientId, mayAnswer = false } = draft
  const [only, ...others] = recipients
  const placed = (conversation ?? threadId ?? replyTo ?? thread) !== undefined
  if (placed || clientId === undefined || only === undefined || others.length > 0)
    return { thread: await findJoined(db, placing), replyTo }
  const received = { senderId: only.agent.id, recipientId: sender.id, called: clientId, numbers: mayAnswer }
  const answered = await findReceived(db, received)
  return answered === undefined
    ? { thread: undefined }
    : { thread: await findThreadOf(db, answered), replyTo: answered }
}

/** None if it begins one. */
async function findJoined(db: Reader, { sender, draft }: Placing): Promise<Joined | undefined> {
  if (draft.conversation !== undefined) return findConversed(db, sender, draft.conversation)
  if (draft.threadId !== undefined) return lockThread(db, draft.threadId)
  if (draft.replyTo !== undefined) return findThreadOf(db, draft.replyTo)
  if (draft.thread === undefined) return undefined
  return findMailThread(db, { projectId: sender.projectId, senderId: sender.id, key: draft.thread })
}

/** A conversation that another door began has no entry by its subject yet. */
async function findConversed(
  db: Reader,
  { id: senderId }: Agent,
  { thread, threadId, about }: Conversation,
): Promise<Joined | undefined> {
  if (thread !== undefined) return thread
  const filed = about && (await lockConversation(db, { senderId, ...about }))
  if (filed !== undefined) return { ...filed, filed: true }
  return threadId === undefined ? undefined : lockThread(db, threadId)
}

/** The subject by which the conversation is to be found from now on; undefined if it is already. */
export function aboutOf(
  sender: Agent,
  { conversation }: Placing['draft'],
  thread: Joined | undefined,
): About | undefined {
  const about = conversation?.about
  return about === undefined || thread?.filed ? undefined : { senderId: sender.id, ...about }
}
