/** The place of a message: the thread that it joins, the one that was stored if it is sent again, the queue that it waits in. */
import type { Tx } from '../../db/port.ts'
import { insertConversation, lockConversation } from '../../store/conversations.ts'
import { findMailThread, findThreadOf, lockThread, type MailThreadRow } from '../../store/mail-threads.ts'
import { type ClientId, findByClientId, findInThread } from '../../store/messages.ts'
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
    readonly thread?: string | undefined
    readonly threadId?: number | undefined
    readonly replyTo?: number | undefined
    readonly clientId?: string | undefined
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

/**
 * The thread that a message joins, and the message that was stored before, if this is a retry. Both are asked for at once: on
 * PostgreSQL that is one round trip less.
 */
export async function findPlace(tx: Tx, placing: Placing, name: ClientId | undefined) {
  if (name === undefined) return { thread: await findJoined(tx, placing), before: undefined }
  const [thread, named] = await Promise.all([findJoined(tx, placing), findByClientId(tx, name)])
  if (named !== undefined || thread === undefined) return { thread, before: named }
  return { thread, before: await findInThread(tx, { ...name, threadId: thread.id }) }
}

/** None if it begins one. */
async function findJoined(tx: Tx, { sender, recipients, draft }: Placing): Promise<Joined | undefined> {
  if (draft.conversation !== undefined) return findConversed(tx, sender, draft.conversation)
  if (draft.threadId !== undefined) return lockThread(tx, draft.threadId)
  if (draft.replyTo !== undefined) return findThreadOf(tx, draft.replyTo)
  if (draft.thread !== undefined) {
    const { id: senderId, projectId } = sender
    return findMailThread(tx, { projectId, senderId, key: draft.thread })
  }
  const [only, ...others] = recipients
  if (draft.clientId === undefined || only === undefined || others.length > 0) return undefined
  return findAnswered(tx, sender, only.agent, draft.clientId)
}

/**
 * A message that goes by the id of one the sender got from this recipient is the answer to it and joins its thread
 * (mailbox.send.reply). Anybody else's use of that id joins nothing: an id is no key to a conversation.
 */
async function findAnswered(tx: Tx, sender: Agent, recipient: Agent, clientId: string) {
  const asked = await findByClientId(tx, { senderId: recipient.id, recipientIds: [sender.id], clientId })
  return asked && findThreadOf(tx, asked.id)
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
