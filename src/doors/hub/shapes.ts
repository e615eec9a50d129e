/** The hub door's words for the hub's things (hub.thread.shape). Times are ISO 8601. */
import { z } from 'zod'
import type { Attachment } from '../../core/messages/stored-attachments.ts'
import type { Reached } from '../../core/presence/reach.ts'
import type { ServerGrant } from '../../core/remote-tools/grants.ts'
import type { Listed } from '../../core/threads/directory.ts'
import type { Grant } from '../../core/threads/grants.ts'
import type { OwnThread, SeenMessage, ThreadPage } from '../../core/threads/hub-threads.ts'
import type { Answers, Written } from '../../core/threads/writing.ts'
import { toReach } from '../words/reach.ts'
import { reachShape } from '../words/reach-shape.ts'
import { iso, isoOrNull } from '../words/times.ts'

const threadId = z.string().describe('Pass it as thread to go on in it.')

const replyShape = z.object({
  message_id: z.int(),
  seq: z.int(),
  from: z.string(),
  text: z.string(),
  created_at: z.string(),
})

export const sentShape = z.object({
  message_id: z.int(),
  thread: threadId,
  seq: z.int(),
  created_at: z.string(),
  deliveries: z.array(z.object({ recipient: z.string(), reach: reachShape })).optional(),
  unread_in_thread: z.array(z.int()).optional().describe('Messages of the thread that you have not seen yet.'),
  duplicate: z.literal(true).optional().describe('Nothing was stored: a message of yours has this client_message_id.'),
  reply: replyShape.nullable().optional().describe('Only with await_reply_seconds: null when time was up.'),
})

/** A message of a topic goes to all who joined: nobody is addressed. */
export const toSent = ({ messageId, thread, seq, createdAt }: Written, reached?: Reached) => ({
  message_id: messageId,
  thread,
  seq,
  created_at: iso(createdAt),
  ...(reached && {
    deliveries: reached.deliveries.map(({ agent, reach }) => ({ recipient: agent.name, reach: toReach(reach) })),
    ...(reached.unreadInThread.length > 0 && { unread_in_thread: [...reached.unreadInThread] }),
    ...(reached.duplicate && { duplicate: true as const }),
  }),
})

export const askShape = z.object({ message_id: z.int(), thread: threadId, reply: replyShape.nullable() })

export const toReply = ({ id, seq, from, text, createdAt }: SeenMessage): z.output<typeof replyShape> => ({
  message_id: id,
  seq,
  from,
  text,
  created_at: iso(createdAt),
})

export const toAnswer = ({ messageId, thread, replies: [first] }: Answers): z.output<typeof askShape> => ({
  message_id: messageId,
  thread,
  reply: first === undefined ? null : toReply(first),
})

export const broadcastShape = z.object({
  thread: threadId,
  message_id: z.int().describe('Pass it to apm2.message.ask to wait for one more answer.'),
  sent: z.int().describe('How many agents it went to.'),
  replies: z.array(replyShape),
  missing: z.array(z.string()).describe('Agents that have not answered yet.'),
  blocked: z.array(z.object({ recipient: z.string(), code: z.string(), hint: z.string() })),
})

const linkShape = z.object({
  type: z.literal('resource_link'),
  uri: z.string(),
  name: z.string(),
  mimeType: z.string().optional(),
  size: z.int().optional(),
})

const messageShape = z.object({
  message_id: z.int(),
  seq: z.int(),
  from: z.string(),
  trust: z.enum(['person', 'contact', 'project', 'stranger']).describe('Who the sender is to you.'),
  text: z.string(),
  next_offset: z
    .int()
    .optional()
    .describe('Only where the text is longer: pass it as offset, with a cursor one below seq.'),
  reply_to: z.int().nullable(),
  hops: z.int().optional().describe('Woken messages in a row that end with this one.'),
  created_at: z.string(),
  attachments: z.array(linkShape),
  expired: z.literal(true).optional().describe('Nobody read it within its ttl_seconds.'),
  dead: z.literal(true).optional().describe('It was handed out too often and never confirmed.'),
})

export const threadShape = z.object({
  thread: threadId,
  subject: z.string(),
  status: z.enum(['open', 'closed']),
  participants: z.array(z.string()),
  messages: z.array(messageShape),
  next_cursor: z.string().describe('Pass it as cursor to read on, also once there is more.'),
  has_more: z.boolean(),
})

export const toThread = ({ thread, subject, status, participants, messages, next, more }: ThreadPage) => ({
  thread,
  subject,
  status,
  participants: [...participants],
  messages: messages.map((message) => toMessage(thread, message)),
  next_cursor: String(next),
  has_more: more,
})

const toMessage = (thread: string, message: SeenMessage): z.output<typeof messageShape> => {
  const { id, seq, from, trust, text, nextOffset, replyTo, hops, createdAt, attachments, ended } = message
  return {
    message_id: id,
    seq,
    from,
    trust,
    text,
    ...(nextOffset !== undefined && { next_offset: nextOffset }),
    reply_to: replyTo ?? null,
    ...(hops > 0 && { hops }),
    created_at: iso(createdAt),
    attachments: attachments.map((one, position) => toLink(one, enclosureUri(thread, id, position))),
    ...(ended !== null && (ended === 'expired' ? { expired: true as const } : { dead: true as const })),
  }
}

export const threadUri = (thread: string): string => `apm2://threads/${encodeURIComponent(thread)}`

const enclosureUri = (thread: string, messageId: number, position: number): string =>
  `${threadUri(thread)}/attachments/${messageId}-${position}`

function toLink(attachment: Attachment, uri: string): z.output<typeof linkShape> {
  if (attachment.kind === 'link') return { type: 'resource_link', uri: attachment.uri, name: lastPart(attachment.uri) }
  const { mediaType: mimeType } = attachment
  if (attachment.kind === 'inline') return { type: 'resource_link', uri, name: 'image', mimeType }
  return { type: 'resource_link', uri, name: lastPart(attachment.path), mimeType, size: attachment.bytes }
}

const lastPart = (path: string): string => /[^/]+(?=\/*$)/.exec(path)?.[0] ?? path

export const agentShape = z.object({
  name: z.string(),
  status: z.enum(['active', 'idle', 'unseen']),
  reachable: z.boolean().describe('Whether its contact policy takes messages from you.'),
  last_active_at: z.string().nullable(),
})

export const toAgent = ({ name, status, reachable, activeAt }: Listed): z.output<typeof agentShape> => ({
  name,
  status,
  reachable,
  last_active_at: isoOrNull(activeAt),
})

export const toOwnThread = ({ thread, subject, lastSeq, unread }: OwnThread) => ({
  thread,
  subject,
  last_seq: lastSeq,
  unread,
})

export const grantShape = z.object({
  grant_id: z.string(),
  agent: z.string(),
  thread: z.string().optional(),
  server: z.string().optional(),
  can: z.enum(['read', 'write', 'call']),
  granted_by: z.string().nullable().describe('null for the operator.'),
  created_at: z.string(),
  expires_at: z.string(),
})

export const toGrant = (grant: Grant): z.output<typeof grantShape> => ({
  grant_id: grant.id,
  agent: grant.agent,
  thread: grant.thread,
  can: grant.can,
  granted_by: grant.by ?? null,
  created_at: iso(grant.createdAt),
  expires_at: iso(grant.expiresAt),
})

export const toServerGrant = (grant: ServerGrant): z.output<typeof grantShape> => ({
  grant_id: grant.id,
  agent: grant.agent,
  server: grant.server,
  can: 'call',
  granted_by: null,
  created_at: iso(grant.createdAt),
  expires_at: iso(grant.expiresAt),
})
