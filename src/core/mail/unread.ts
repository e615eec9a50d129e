/** Mail for clients that take care of each message: what is unread, in its order, and whom a conversation is held with. */
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import { listOthers } from '../../store/mail/conversation-lists.ts'
import { findOwnMessage } from '../../store/mail/conversations.ts'
import { listUnreadMessages, type UnreadMessageRow } from '../../store/mail/unread.ts'
import { findReceipt } from '../../store/messages/deliveries.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addressFrom } from '../messages/addresses.ts'
import { type ConversationMessage, listMessagesOf } from './conversation-messages.ts'
import { needPart, noMessage } from './history.ts'

export interface UnreadMessage extends ConversationMessage {
  /** The uid of its thread. */
  readonly thread: string
  readonly subject: string
}

interface UnreadPage {
  readonly messages: readonly UnreadMessage[]
  readonly more: boolean
}

/** The oldest first, of all conversations. Looking marks none of them, and claims none. */
export async function listUnread(
  hub: Hub,
  acting: Acting,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<UnreadPage> {
  const agent = await actAs(hub, acting)
  const db = reader(hub)
  const last = after === undefined ? undefined : await findOwnMessage(db, agent.id, after)
  const place = last && (await findReceipt(db, last.id, agent.id))
  if (after !== undefined && place === undefined) throw noMessage(agent, after)
  const found = await listUnreadMessages(db, { agentId: agent.id, after: place?.id ?? 0, limit: limit + 1 })
  const shown = within(found.slice(0, limit))
  const byId = await listMessagesOf(
    db,
    { ...agent, now: hub.clock.now() },
    shown.map(({ id }) => id),
  )
  const messages = shown.flatMap(({ id, thread_uid: thread, subject }) => {
    const message = byId.get(id)
    return message === undefined ? [] : { ...message, thread, subject: firstLine(subject) }
  })
  return { messages, more: found.length > shown.length }
}

/** As many as an answer has room for, and one at least. */
function within(found: readonly UnreadMessageRow[]): readonly UnreadMessageRow[] {
  let bytes = 0
  const past = found.findIndex((row, index) => {
    bytes += Number(row.bytes)
    return index > 0 && bytes > limits.answerBodyBytes
  })
  return past < 0 ? found : found.slice(0, past)
}

interface Counterpart {
  readonly uid: string
  readonly subject: string
  /** The agent that wrote last, apart from the reader. */
  readonly other: string
}

/** Whom a conversation is held with; nothing of it is marked. */
export async function needCounterpart(hub: Hub, acting: Acting, uid: string): Promise<Counterpart> {
  const agent = await actAs(hub, acting)
  const thread = await needPart(hub, agent, uid)
  const [row] = await listOthers(reader(hub), agent.id, [thread.id])
  const { name, project_id: projectId } = row ?? { name: agent.name, project_id: agent.projectId }
  return { uid, subject: firstLine(thread.subject), other: await addressFrom(hub, agent, { name, projectId }) }
}
