/** The reply that send_message and reply_message wait for, where they are asked to. */
import { limits } from '../../base/limits.ts'
import type { Acting } from '../../core/agents/acting.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { listInbox } from '../../core/mail/inbox.ts'
import type { Sent } from '../../core/messages/send.ts'
import { sendAndAwait } from '../../core/threads/replies.ts'
import type { CallContext } from '../mcp/table.ts'
import { noteTexts } from './delivered.ts'
import type { MailScope } from './scope.ts'
import { budgetOf, toReceived } from './shapes.ts'

interface Asking {
  readonly who: Acting
  readonly context: CallContext<MailScope>
  /** Left out, nothing is waited for. */
  readonly seconds: number | undefined
}

/** A send that waits has an id of its own in any case: by it the next call goes on. */
export const idOf = (hub: Hub, given: string | undefined, seconds: number | undefined): string | undefined =>
  given ?? (seconds === undefined ? undefined : hub.ids.uuid())

/** As in fetch_inbox, the reply is not marked as read, and counts as delivered once the answer is out. */
export async function withReply<Receipt extends Sent>(
  hub: Hub,
  { who, context, seconds }: Asking,
  sending: () => Promise<Receipt>,
): Promise<{ sent: Receipt; asked: { reply?: object | null; client_message_id?: string } }> {
  if (seconds === undefined) return { sent: await sending(), asked: {} }
  const patience = { waitMs: Math.ceil(seconds * 1000), signals: [context.signal, context.stopping], door: 'mail' }
  const { sent, replyId } = await sendAndAwait(hub, who, sending, patience)
  const asked = { client_message_id: sent.clientId }
  if (replyId === undefined) return { sent, asked: { ...asked, reply: null } }
  const one = { after: replyId - 1, before: replyId + 1, limit: 1 }
  const budget = budgetOf(limits.answerBodyBytes)
  const { messages } = await listInbox(hub, who, { ...one, bodies: true, budget })
  noteTexts(hub, context, who, messages)
  const [reply] = messages
  return { sent, asked: { ...asked, reply: reply === undefined ? null : toReceived(reply) } }
}
