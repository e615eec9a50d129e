/** Mail for clients that take care of each message: what is unread, in its order, and whom a conversation is held with. */
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import { listOthers } from '../../store/mail/conversation-lists.ts'
import { findOwnMessage } from '../../store/mail/conversations.ts'
import { listUnreadLetters, type UnreadLetterRow } from '../../store/mail/unread.ts'
import { findReceipt } from '../../store/messages/deliveries.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addressFrom } from '../messages/addresses.ts'
import { needPart, noMessage } from './history.ts'
import { type Letter, lettersOf } from './letters.ts'

export interface UnreadLetter extends Letter {
  /** The uid of its thread. */
  readonly thread: string
  readonly subject: string
}

export interface UnreadPage {
  readonly letters: readonly UnreadLetter[]
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
  const found = await listUnreadLetters(db, { agentId: agent.id, after: place?.id ?? 0, limit: limit + 1 })
  const shown = within(found.slice(0, limit))
  const byId = await lettersOf(
    db,
    agent,
    shown.map(({ id }) => id),
  )
  const letters = shown.flatMap(({ id, thread_uid: thread, subject }) => {
    const letter = byId.get(id)
    return letter === undefined ? [] : { ...letter, thread, subject: firstLine(subject) }
  })
  return { letters, more: found.length > shown.length }
}

/** As many as an answer has room for, and one at least. */
function within(found: readonly UnreadLetterRow[]): readonly UnreadLetterRow[] {
  let bytes = 0
  const past = found.findIndex((row, index) => {
    bytes += Number(row.bytes)
    return index > 0 && bytes > limits.answerBodyBytes
  })
  return past < 0 ? found : found.slice(0, past)
}

export interface Counterpart {
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
