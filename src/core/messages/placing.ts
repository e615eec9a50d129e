/** The place of a message: the thread that it joins, the one that was stored if it is sent again, the queue that it waits in. */
import type { Tx } from '../../db/port.ts'
import { findMailThread, findThreadOf, type MailThreadRow } from '../../store/mail-threads.ts'
import { type ClientId, findByClientId, findInThread } from '../../store/messages.ts'
import { type Agent, isNewcomer, mailChannel, type Newcomer } from '../agents/agents.ts'
import type { Addressee, Recipient } from './recipients.ts'

interface Placing {
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  readonly draft: {
    readonly thread?: string | undefined
    readonly replyTo?: number | undefined
    readonly clientId?: string | undefined
  }
}

/**
 * The thread that a message joins, and the message that was stored before, if this is a retry. Both are asked for at once: on
 * PostgreSQL that is one round trip less.
 */
export async function findPlace(tx: Tx, placing: Placing, name: ClientId | undefined) {
  const [thread, named] = await Promise.all([findJoined(tx, placing), name && findByClientId(tx, name)])
  if (name === undefined || named !== undefined || thread === undefined) return { thread, before: named }
  return { thread, before: await findInThread(tx, { ...name, threadId: thread.id }) }
}

/** None if it begins one. */
async function findJoined(tx: Tx, { sender, recipients, draft }: Placing): Promise<MailThreadRow | undefined> {
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
 * Sends to one agent wait for its row, and for no other unless they join a thread: the rows of threads are locked first, and
 * several of both together could not be locked in one order.
 */
export function laneOf({ recipients, draft, sender }: Sending): string | undefined {
  const [only, ...others] = recipients
  const joins = draft.thread !== undefined || draft.replyTo !== undefined
  if (only === undefined || others.length > 0 || joins || isNewcomer(sender) || isNewcomer(only.agent)) return undefined
  return mailChannel(only.agent.id)
}
