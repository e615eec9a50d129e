/** The place of a message: the thread that it joins, and the one that was stored if it is sent again. */
import type { Tx } from '../../db/port.ts'
import { findMailThread, findThreadOf, lockThread, type MailThreadRow } from '../../store/mail-threads.ts'
import { type ClientId, findByClientId, findInThread } from '../../store/messages.ts'
import type { Agent } from '../agents/agents.ts'
import type { Recipient } from './recipients.ts'

/** The wake-up channel of a thread. */
export const threadChannel = (threadId: number): string => `thread:${threadId}`

interface Placing {
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  readonly draft: {
    readonly thread?: string | undefined
    readonly threadId?: number | undefined
    readonly replyTo?: number | undefined
    readonly clientId?: string | undefined
  }
}

/** The thread that a message joins; none if it begins one. */
export async function findJoined(tx: Tx, { sender, recipients, draft }: Placing): Promise<MailThreadRow | undefined> {
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

/** A retry has the client id of a message that went to one of the same recipients, or into the same thread. */
export async function findStored(tx: Tx, name: ClientId, thread: MailThreadRow | undefined) {
  const { senderId, clientId } = name
  return (
    (await findByClientId(tx, name)) ??
    (thread && (await findInThread(tx, { threadId: thread.id, senderId, clientId })))
  )
}
