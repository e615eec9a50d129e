/** The place of a message: the thread that it joins, the one that was stored if it is sent again, the queue that it waits in. */
import type { Tx } from '../../db/port.ts'
import { type ClientId, findByClientId, findReceived, findRepeated, type NamedRow } from '../../store/client-ids.ts'
import { insertConversation, lockConversation } from '../../store/conversations.ts'
import { findMailThread, findThreadOf, lockThread, type MailThreadRow } from '../../store/mail-threads.ts'
import { findInThread } from '../../store/messages.ts'
import { type Agent, isNewcomer, mailChannel, type Newcomer } from '../agents/agents.ts'
import type { Addressee, Recipient } from './recipients.ts'

/** How the wake-up channels of threads begin. */
export const threadChannels = 'thread:'

/** The wake-up channel of a thread. */
export const threadChannel = (threadId: number): string => `${threadChannels}${threadId}`

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

export interface Place {
  /** None if it begins one. */
  readonly thread: Joined | undefined
  /** The message that was stored before, if this is a retry. */
  readonly before?: { readonly id: number } | undefined
  readonly replyTo?: number | undefined
  /** The client id is that of another message of the sender: in this thread (`taken`), or to the same recipient (`used`). */
  readonly named?: 'taken' | 'used' | undefined
}

/** The thread and the earlier message are asked for at once: on PostgreSQL that is one round trip less. */
export async function findPlace(tx: Tx, placing: Placing, name: ClientId | undefined): Promise<Place> {
  const { draft } = placing
  if (name === undefined) return { thread: await findJoined(tx, placing), replyTo: draft.replyTo }
  const [joined, first] = await Promise.all([findAnswering(tx, placing), findByClientId(tx, name, draft.body)])
  const { thread, replyTo } = joined
  if (draft.mayAnswer) return findPlaceOfAnswer(tx, { ...placing, name }, { joined, first })
  if (first !== undefined || thread === undefined) return { thread, replyTo, before: first }
  return { thread, replyTo, before: await findInThread(tx, { ...name, threadId: thread.id }) }
}

interface Answering {
  readonly thread: Joined | undefined
  readonly replyTo?: number | undefined
}

/**
 * Where the id may be that of the message that is answered, each turn of a conversation may come under the same one. A retry is
 * then what has the same words too; other words are another message, in the same thread (mailbox.send.other-words).
 */
async function findPlaceOfAnswer(
  tx: Tx,
  { draft, name }: Pick<Placing, 'draft'> & { readonly name: ClientId },
  { joined, first }: { joined: Answering; first: NamedRow | undefined },
): Promise<Place> {
  if (first === undefined) {
    const { thread } = joined
    const other = thread && (await findInThread(tx, { ...name, threadId: thread.id }))
    return { ...joined, named: other && 'taken' }
  }
  const before = first.same === 1 ? first : await findRepeated(tx, name, draft.body)
  const thread = joined.thread ?? (await findThreadOf(tx, first.id))
  // An id that comes again says in which conversation the answer is, and no longer to which message.
  return { thread, before, replyTo: draft.replyTo, named: 'used' }
}

/** By what the draft names, else by its client id: whoever goes by the id of a message answers it. */
async function findAnswering(tx: Tx, placing: Placing): Promise<Answering> {
  const { sender, recipients, draft } = placing
  const { conversation, threadId, replyTo, thread, clientId, mayAnswer = false } = draft
  const [only, ...others] = recipients
  const placed = (conversation ?? threadId ?? replyTo ?? thread) !== undefined
  if (placed || clientId === undefined || only === undefined || others.length > 0)
    return { thread: await findJoined(tx, placing), replyTo }
  const received = { senderId: only.agent.id, recipientId: sender.id, called: clientId, numbers: mayAnswer }
  const answered = await findReceived(tx, received)
  return answered === undefined
    ? { thread: undefined }
    : { thread: await findThreadOf(tx, answered), replyTo: answered }
}

/** None if it begins one. */
async function findJoined(tx: Tx, { sender, draft }: Placing): Promise<Joined | undefined> {
  if (draft.conversation !== undefined) return findConversed(tx, sender, draft.conversation)
  if (draft.threadId !== undefined) return lockThread(tx, draft.threadId)
  if (draft.replyTo !== undefined) return findThreadOf(tx, draft.replyTo)
  if (draft.thread === undefined) return undefined
  return findMailThread(tx, { projectId: sender.projectId, senderId: sender.id, key: draft.thread })
}

interface Sending extends Pick<Placing, 'draft'> {
  readonly sender: Agent | Newcomer
  readonly recipients: readonly Addressee[]
}

/**
 * Sends to one agent wait for its row. Those into threads of many stay out: the rows of threads are locked first, and several
 * of both together could not be locked in one order. The thread of a conversation is that of two agents: nobody else wants it.
 */
export function laneOf({ recipients, draft, sender }: Sending): string | undefined {
  const [only, ...others] = recipients
  const { thread, threadId, replyTo } = draft
  const joins = (thread ?? threadId ?? replyTo) !== undefined
  if (only === undefined || others.length > 0 || joins || isNewcomer(sender) || isNewcomer(only.agent)) return undefined
  return mailChannel(only.agent.id)
}

/** A conversation that another door began has no entry by its subject yet. */
async function findConversed(
  tx: Tx,
  { id: senderId }: Agent,
  { thread, threadId, about }: Conversation,
): Promise<Joined | undefined> {
  if (thread !== undefined) return thread
  const filed = about && (await lockConversation(tx, { senderId, ...about }))
  if (filed !== undefined) return { ...filed, filed: true }
  return threadId === undefined ? undefined : lockThread(tx, threadId)
}

/** Whether nothing is to be done for a conversation to be found by its subject. */
export const isFiled = ({ conversation }: Placing['draft'], thread: Joined | undefined): boolean =>
  conversation?.about === undefined || thread?.filed === true

/** A conversation about a subject is found by it from now on. */
export function fileConversation(
  tx: Tx,
  { sender, draft, thread }: Pick<Placing, 'sender' | 'draft'> & { thread: Joined | undefined },
  threadId: number,
): void {
  const about = draft.conversation?.about
  if (about !== undefined && !isFiled(draft, thread))
    insertConversation(tx, { senderId: sender.id, ...about, threadId })
}
