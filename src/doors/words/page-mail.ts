/** Mail as people are shown it, in the words of mail: pages and commands say it alike. */
import type { Boxed } from '../../core/pages/agent-mail.ts'
import type { RecipientState } from '../../core/pages/message.ts'
import type { sendAsOverseer } from '../../core/pages/overseer.ts'
import type { PageMessage } from '../../core/pages/page-message.ts'
import { addressIn } from './addresses.ts'
import { toAttachment } from './attachments.ts'
import { iso, isoOrNull } from './times.ts'
import { toldOfUnseen } from './unseen.ts'

/** A message that is nobody's in particular: what is only of a recipient is null. */
export function toMessage(message: PageMessage) {
  const address = addressIn(message.project)
  return {
    id: message.id,
    project: message.project,
    thread_id: message.thread ?? null,
    subject: message.subject,
    from: address(message.from),
    to: message.to.map(address),
    cc: message.cc.map(address),
    kind: null,
    importance: message.importance,
    ack_required: message.ackRequired,
    created_ts: iso(message.createdAt),
    read_ts: null,
    ack_ts: null,
    attachments: message.attachments.map(toAttachment),
    excerpt: message.excerpt,
    recipients: message.recipients,
    unread: message.unread,
    ...(message.messageType !== undefined && { message_type: message.messageType }),
    ...(message.sealed && { sealed: true }),
  }
}

export const toBoxed = (message: Boxed) => ({
  ...toMessage(message),
  kind: message.kind ?? null,
  read_ts: isoOrNull(message.readAt),
  ack_ts: isoOrNull(message.ackedAt),
})

export const toRecipient = ({ name, project, kind, state, readAt, ackedAt }: RecipientState) => ({
  name,
  project,
  kind,
  state,
  read_ts: isoOrNull(readAt),
  ack_ts: isoOrNull(ackedAt),
})

/** The answer to a message of a person. */
export const toSentReceipt = ({ thread, sent, blocked, unseen }: Awaited<ReturnType<typeof sendAsOverseer>>) => ({
  thread_id: thread ?? null,
  sent: sent.map(({ project, messageId, recipients }) => ({
    project,
    message_id: messageId,
    recipients: recipients.map(({ name }) => name),
  })),
  blocked,
  ...(unseen.length > 0 && { note: unseen.map(toldOfUnseen).join(' ') }),
})
