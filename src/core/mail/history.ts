/** The history of a conversation, as one of its agents reads it. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import { countAutomatic, findMailThreadOf, findOwnMessage, listHistory } from '../../store/mail/conversations.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type ConversationMessage, listMessagesOf } from './conversation-messages.ts'
import { markShown } from './shown.ts'

interface History {
  readonly uid: string
  readonly subject: string
  /** Newest first. */
  readonly messages: readonly ConversationMessage[]
  readonly more: boolean
  /** The automatic messages at the end of the conversation. */
  readonly automaticTurns: number
}

/**
 * The messages of a conversation that the agent sent or was sent. What it was sent and is shown here is read now, unless
 * the caller may only look.
 */
export async function readConversation(
  hub: Hub,
  acting: Acting,
  { uid, limit, before }: { uid: string; limit: number; before?: string | undefined },
): Promise<History> {
  const agent = await actAs(hub, acting)
  const thread = await needPart(hub, agent, uid)
  const bound = before === undefined ? undefined : await needOwn(hub, agent, before)
  if (bound !== undefined && bound.thread_id !== thread.id) throw noMessage(agent, before ?? '')
  const query = { threadId: thread.id, agentId: agent.id, before: bound?.seq, limit: limit + 1 }
  const found = await listHistory(reader(hub), query)
  const ids = within(found.slice(0, limit))
  const messages = await listMessagesOf(reader(hub), { ...agent, now: hub.clock.now() }, ids)
  const shown = ids.flatMap((id) => messages.get(id) ?? [])
  const marks = !acting.caller.readOnly
  const unread = ids.filter((id) => messages.get(id)?.read === false && messages.get(id)?.own === false)
  await markShown(hub, acting.caller, agent, unread)
  return {
    uid: thread.uid,
    subject: firstLine(thread.subject),
    messages: shown.map((message) => ({ ...message, read: message.read || (marks && !message.own) })),
    more: found.length > ids.length,
    automaticTurns: await countAutomatic(reader(hub), thread.id),
  }
}

/** The first of them, as many as fit into an answer, and one at least. */
function within(found: readonly { id: number; bytes: number }[]): number[] {
  let bytes = 0
  const fits = found.filter((row, index) => {
    bytes += Number(row.bytes)
    return index === 0 || bytes <= limits.answerBodyBytes
  })
  return fits.map(({ id }) => id)
}

/** A thread of mail that the agent has part in. */
export async function needPart(hub: Hub, agent: Agent, uid: string) {
  const thread = await findMailThreadOf(reader(hub), { uid, agentId: agent.id })
  if (thread === undefined) throw new HubError('THREAD_NOT_FOUND', `There is no conversation ${uid}.`)
  if (thread.mine !== 1) throw new HubError('FORBIDDEN', `${agent.name} does not take part in this conversation.`)
  return thread
}

/** A message that the agent sent or was sent. */
export async function needOwn(hub: Hub, agent: Agent, uid: string) {
  const message = await findOwnMessage(reader(hub), agent.id, uid)
  if (message === undefined) throw noMessage(agent, uid)
  return message
}

export const noMessage = ({ name }: Agent, uid: string): HubError =>
  new HubError('MESSAGE_NOT_FOUND', `${name} has no message ${uid}.`)
