/** The mail door's answers about messages (mail.send.list-shape), in the words of doors/words/mail.ts. */
import { z } from 'zod'
import { limits, sizeInWords } from '../../base/limits.ts'
import type { Committed } from '../../core/archive/commits.ts'
import { type Budget, type MailPage, type Received, readsOn } from '../../core/mail/inbox.ts'
import type { MailMessage, Party } from '../../core/mail/messages.ts'
import type { Delivery } from '../../core/messages/receipt.ts'
import type { Sent } from '../../core/messages/send.ts'
import type { Attachment } from '../../core/messages/stored-attachments.ts'
import type { Reached } from '../../core/presence/reach.ts'
import type { Reach } from '../mcp/table.ts'
import { toAttachment } from '../words/attachments.ts'
import { address, toDelivery, toEnvelope } from '../words/mail.ts'
import { toReach } from '../words/reach.ts'
import { reachShape } from '../words/reach-shape.ts'
import { iso } from '../words/times.ts'
import { toldOfUnseen } from '../words/unseen.ts'
import { refusalHint } from './calls.ts'

/** With the address by which its content is read (mail.attach.resource). */
const toReadable = (attachment: Attachment) => ({
  ...toAttachment(attachment),
  ...(attachment.kind !== 'link' && attachment.sha1 && { uri: `resource://attachment/${attachment.sha1}` }),
})

export const toMessage = (message: MailMessage) => ({
  ...toEnvelope(message),
  attachments: message.attachments.map(toReadable),
  ...(message.body !== undefined && { body_md: message.body }),
  ...(message.bodyOmitted && { body_omitted: true as const }),
})

export const toReceived = (message: Received) => ({ ...toMessage(message), ...toDelivery(message) })

/** Says once how to read the bodies that an answer leaves out; nothing where it leaves out none (mail.inbox.large). */
export const omittedNote = (messages: readonly MailMessage[], way: string): { note?: string } =>
  messages.some(({ bodyOmitted }) => bodyOmitted)
    ? { note: `Messages with body_omitted: an answer holds ${sizeInWords(limits.answerBodyBytes)} of bodies. ${way}` }
    : {}

/** Characters of an answer that are not its messages. */
const frameLength = 400

/** At most, of a message without its texts and names, and of an attachment beside what core knows of it. */
const [envelopeLength, attachmentLength] = [400, 100]

/** At most so many characters. Phrasing the message here too would take 3 µs. */
function lengthOf({ thread = '', subject, body = '', from, to, cc, attachments }: Received): number {
  let length = envelopeLength + thread.length + JSON.stringify(subject + body).length
  for (const party of [from, ...to, ...cc]) length += address(party).length + '"",'.length
  for (const attachment of attachments) length += attachmentLength + JSON.stringify(attachment).length
  return length
}

/** As many whole messages as fit into an answer beside so many characters of other things. */
export const budgetOf = (characters: number, beside = 0): Budget => ({
  most: characters - frameLength - beside,
  sizeOf: lengthOf,
})

/** The defaults of `fetch_inbox`. Some clients put more than 50,000 characters into a file, where a model does not look. */
export const inboxDefaults = { limit: 20, urgent_only: false, include_bodies: false, max_chars: 40_000 } as const

/** The arguments of `fetch_inbox`, but for who asks. */
type InboxAsked = { readonly [Name in keyof typeof inboxDefaults | 'after_id' | 'before_id' | 'since_ts']?: unknown }

/** The call that goes on behind a page of an inbox, and asks for the same; nothing where it was the last (mail.inbox.more). */
export function goesOn({ messages, more }: MailPage, asked: InboxAsked) {
  if (!more) return {}
  const onwards = readsOn({ after: asked.after_id, since: asked.since_ts })
  const last = onwards ? messages[0]?.id : messages.at(-1)?.id
  const place = onwards ? 'after_id' : 'before_id'
  const usual: InboxAsked = inboxDefaults
  const { [place]: _, ...others } = asked
  const args = Object.entries({ [place]: last, ...others })
    .filter(([name, value]) => value !== undefined && value !== usual[name as keyof InboxAsked])
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  return {
    ...(onwards ? { next_after: last } : { next_before: last }),
    note: `There are ${onwards ? 'newer' : 'older'} messages: call fetch_inbox with ${args.join(', ')}.`,
  }
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

const delivery = z.object({
  recipient: z.string(),
  project: z.string(),
  kind: z.string(),
  created: z.literal(true).optional(),
  reach: reachShape.optional(),
})

export const receiptShape = z.object({
  message_id: z.int(),
  thread_id: z.string().nullable(),
  subject: z.string(),
  created_ts: z.string(),
  deliveries: z.array(delivery),
  count: z.int(),
  blocked: z.array(z.object({ recipient: z.string(), code: z.string(), hint: z.string() })),
  attachments: z.array(z.unknown()).optional(),
  unread_in_thread: z.array(z.int()).optional(),
  duplicate: z.literal(true).optional(),
  note: z.string().optional(),
  client_message_id: z.string().optional(),
  reply: z.unknown().optional(),
})

/** A mistyped name makes an agent that nobody reads the mail of: the sender must notice, each time (mail.recipient.unseen). */
const toldOfUnread = ({ agent: { name }, made, unseen, near }: Delivery): string[] =>
  made || unseen ? [toldOfUnseen({ name, made, near })] : []

/** The answer to a send: never the body. */
export function toReceipt(sent: Sent | Reached, reach: Reach): z.output<typeof receiptShape> {
  const deliveries = sent.deliveries.map(({ agent, project, kind, made, ...one }) => ({
    recipient: agent.name,
    project,
    kind,
    ...(made && { created: true as const }),
    ...('reach' in one && { reach: toReach(one.reach) }),
  }))
  const note = sent.deliveries.flatMap(toldOfUnread)
  const blocked = sent.blocked.map(({ project, ...refusal }) => ({
    recipient: address({ name: refusal.recipient.agent.name, project: project === sent.home ? undefined : project }),
    code: refusal.code,
    hint: refusalHint(refusal, reach),
  }))
  return {
    message_id: sent.messageId,
    thread_id: sent.thread ?? null,
    subject: sent.subject ?? '',
    created_ts: iso(sent.createdAt),
    deliveries,
    count: deliveries.length,
    blocked,
    ...(sent.attachments.length > 0 && { attachments: sent.attachments.map(toReadable) }),
    ...('unreadInThread' in sent && sent.unreadInThread.length > 0 && { unread_in_thread: [...sent.unreadInThread] }),
    ...(sent.duplicate && { duplicate: true as const }),
    ...(note.length > 0 && { note: note.join(' ') }),
  }
}

/** A commit of the archive; its author where that is of interest. */
export const toCommit = ({ sha, at, summary, author }: Omit<Committed, 'author'> & Partial<Committed>) => ({
  sha,
  ts: iso(at),
  summary,
  ...(author !== undefined && { author }),
})
