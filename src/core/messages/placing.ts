/** The place of a message: the thread that it joins, and the one that was stored if it is sent again. */
import type { Tx } from '../../db/port.ts'
import { findConversation, insertConversation } from '../../store/conversations.ts'
import { findMailThread, findThreadOf, lockMailThread, type MailThreadRow } from '../../store/mail-threads.ts'
import { type ClientId, findByClientId, findInThread } from '../../store/messages.ts'
import { insertThread, takeSeq } from '../../store/threads.ts'
import type { Agent } from '../agents/agents.ts'
import type { Recipient } from './recipients.ts'

interface Placing {
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  readonly draft: {
    readonly thread?: string | undefined
    readonly replyTo?: number | undefined
    readonly clientId?: string | undefined
    readonly conversation?: Conversation | undefined
  }
}

/** The conversation that a message belongs to: a thread that is known, or the one of two agents about a subject. */
export interface Conversation {
  readonly threadId?: number | undefined
  /** Without case: of all messages between the two about the same subject it is the same. */
  readonly about?: { readonly otherId: number; readonly key: string } | undefined
}

/** The thread that a message joins. `filed`: it was found as the conversation about a subject. */
type Joined = MailThreadRow & { readonly filed?: boolean }

/** The thread that a message joins; none if it begins one. */
export async function findJoined(tx: Tx, { sender, recipients, draft }: Placing): Promise<Joined | undefined> {
  if (draft.conversation !== undefined) return findConversed(tx, sender, draft.conversation)
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

/** A retry has the client id of a message that went to one of the same recipients, or into the same thread. */
export async function findStored(tx: Tx, name: ClientId, thread: MailThreadRow | undefined) {
  const { senderId, clientId } = name
  return (
    (await findByClientId(tx, name)) ??
    (thread && (await findInThread(tx, { threadId: thread.id, senderId, clientId })))
  )
}

/** A conversation that another door began has no entry by its subject yet. */
async function findConversed(
  tx: Tx,
  { id: senderId }: Agent,
  { threadId, about }: Conversation,
): Promise<Joined | undefined> {
  const filed = about && (await findConversation(tx, { senderId, ...about }))
  if (filed !== undefined) return { ...filed, filed: true }
  return threadId === undefined ? undefined : lockMailThread(tx, threadId)
}

interface Place {
  readonly threadId: number
  readonly threadUid: string
  readonly seq: number
}

/** The next place in the thread that the message joins, or the first of a new one. */
export async function takePlace(
  tx: Tx,
  {
    sender,
    draft,
    thread,
    uid,
    now,
  }: Omit<Placing, 'recipients'> & { thread: Joined | undefined; uid: string; now: number },
): Promise<Place> {
  const place = thread
    ? { threadId: thread.id, threadUid: thread.uid, seq: await takeSeq(tx, thread.id) }
    : {
        threadId: await insertThread(tx, { uid, projectId: sender.projectId, key: draft.thread, nextSeq: 2, now }),
        threadUid: uid,
        seq: 1,
      }
  const about = draft.conversation?.about
  if (about !== undefined && !thread?.filed)
    await insertConversation(tx, { senderId: sender.id, ...about, threadId: place.threadId })
  return place
}
