/** The mail door's words for messages (mail.send.list-shape): snake_case, ISO times, names as others address them. */
import { z } from 'zod'
import type { Received } from '../../core/mail/inbox.ts'
import type { MailMessage, Party } from '../../core/mail/letters.ts'
import type { Sent } from '../../core/messages/send.ts'
import { refusalHint } from './calls.ts'
import { isoOrNull, toIso } from './fields.ts'

const nullableTime = z.string().nullable()

export const messageShape = z.object({
  id: z.int(),
  thread_id: z.string().nullable(),
  subject: z.string(),
  from: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  importance: z.string(),
  ack_required: z.boolean(),
  created_ts: z.string(),
  attachments: z.array(z.unknown()),
  body_md: z.string().optional(),
})

export const receivedShape = messageShape.extend({
  kind: z.string(),
  read_ts: nullableTime,
  ack_ts: nullableTime,
})

/** A name that can be written to: of another project, with its slug. */
export const address = ({ name, project }: Pick<Party, 'name' | 'project'>): string =>
  project === undefined ? name : `${name}@${project}`

export type MessageShape = z.output<typeof messageShape>
export type ReceivedShape = z.output<typeof receivedShape>

export function toMessage(message: MailMessage): MessageShape {
  const { id, thread, subject, from, to, cc, importance, ackRequired, createdAt, body } = message
  return {
    id,
    thread_id: thread ?? null,
    subject,
    from: address(from),
    to: to.map(address),
    cc: cc.map(address),
    importance,
    ack_required: ackRequired,
    created_ts: toIso(createdAt),
    attachments: [],
    ...(body !== undefined && { body_md: body }),
  }
}

export function toReceived(message: Received): ReceivedShape {
  const { kind, readAt, ackedAt } = message
  return { ...toMessage(message), kind, read_ts: isoOrNull(readAt), ack_ts: isoOrNull(ackedAt) }
}

/** Its sender also sees the blind copies, and who has read and confirmed it. */
export function toSent(message: MailMessage) {
  const recipients = [...message.to, ...message.cc, ...message.bcc]
  const who = (having: (party: Party) => number | undefined) =>
    recipients.filter((party) => having(party) !== undefined).map(address)
  return {
    ...toMessage(message),
    bcc: message.bcc.map(address),
    read_by: who(({ readAt }) => readAt),
    ack_by: who(({ ackedAt }) => ackedAt),
  }
}

const delivery = z.object({ recipient: z.string(), project: z.string(), kind: z.string() })

export const receiptShape = z.object({
  message_id: z.int(),
  thread_id: z.string().nullable(),
  subject: z.string(),
  created_ts: z.string(),
  deliveries: z.array(delivery),
  count: z.int(),
  blocked: z.array(z.object({ recipient: z.string(), code: z.string(), hint: z.string() })),
  duplicate: z.literal(true).optional(),
})

/** What a send answers: never the body. */
export function toReceipt(sent: Sent): z.output<typeof receiptShape> {
  const deliveries = sent.deliveries.map(({ agent, project, kind }) => ({ recipient: agent.name, project, kind }))
  const blocked = sent.blocked.map(({ project, ...refusal }) => ({
    recipient: address({ name: refusal.recipient.agent.name, project: project === sent.home ? undefined : project }),
    code: refusal.code,
    hint: refusalHint(refusal),
  }))
  return {
    message_id: sent.messageId,
    thread_id: sent.thread ?? null,
    subject: sent.subject ?? '',
    created_ts: toIso(sent.createdAt),
    deliveries,
    count: deliveries.length,
    blocked,
    ...(sent.duplicate && { duplicate: true as const }),
  }
}
