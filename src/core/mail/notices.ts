/** Notices of Parley to an agent about a message of its own: in its mailbox and its thread, and they wake nobody. */
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { type EndedMessageRow, insertTold } from '../../store/mail/endings.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { append } from '../messages/send.ts'

interface Transaction {
  readonly tx: Tx
  readonly note: Note
}

/**
 * It comes from the agent itself: no other agent said it, and an answer to it goes nowhere. It has no time to live, asks for nothing,
 * and is announced by no route: two agents that fail to reach each other do not keep each other awake by it.
 */
export async function notify(
  hub: Hub,
  { tx, note }: Transaction,
  message: EndedMessageRow,
  { subject, body }: { readonly subject: string; readonly body: string },
): Promise<void> {
  const agent = { id: message.sender_id, projectId: message.sender_project, name: message.sender }
  const draft = {
    subject: shortened(`${subject}: ${message.subject ?? `message ${message.called}`}`),
    body: `Notice from Parley, not from an agent: ${body}`,
    threadId: message.thread_id,
    replyTo: message.id,
  }
  const recipients = [{ agent, kind: 'to' as const }]
  const stored = await append(hub, { tx, note, uid: hub.ids.uuid(), sender: agent, recipients, draft, notice: true })
  // A full mailbox takes none: the message itself shows how it ended.
  if ('messageId' in stored)
    await insertTold(tx, { messageId: stored.messageId, agentId: agent.id, now: hub.clock.now() })
}

const shortened = (subject: string): string =>
  subject.length > limits.titleLength ? `${subject.slice(0, limits.titleLength - 1)}…` : subject
