/** The words of the post door: sessions, connections and messages as REST and WebSocket show them. */
import { z } from 'zod'
import type { Listed } from '../../core/mail/conversations.ts'
import type { Letter } from '../../core/mail/letters.ts'
import type { UnreadLetter } from '../../core/mail/unread.ts'
import type { PendingConnection } from '../../core/requests/pending.ts'
import { iso } from '../words/times.ts'

const id = z.string().meta({ format: 'uuid' })
const time = z.string().meta({ format: 'date-time' })

export const registeredShape = z.object({
  id,
  name: z.string(),
  api_key: z.string().meta({ pattern: '^amb_[0-9a-f]{64}$' }).describe('Shown once, and stored as a hash only.'),
})

export const selfShape = z.object({ id, name: z.string(), owner_contact: z.string().nullable(), created_at: time })

export const requestedShape = z.object({
  connection_id: id,
  verification_code: z
    .string()
    .meta({ pattern: '^[A-Z]{2}-[0-9]{3}$' })
    .nullable()
    .describe('Null where the other has asked as well, and the connection is active.'),
  target_agent_name: z.string(),
  status: z.enum(['PENDING', 'ACTIVE']),
})

export const approvedShape = z.object({
  connection_id: id,
  status: z.literal('ACTIVE'),
  connected_agent_name: z.string(),
})

export const deniedShape = z.object({ connection_id: id, status: z.literal('REJECTED'), from_agent_name: z.string() })

const pendingShape = z.object({
  connection_id: id,
  from_agent_name: z.string(),
  message: z.string().nullable(),
  verification_code: z
    .string()
    .nullable()
    .describe('Null where codes travel between people only, or where the request has none.'),
  created_at: time,
  without_code: z
    .literal(true)
    .optional()
    .describe('The request has no code: `POST /connections/{connection_id}/approve` or `/deny` answers it.'),
})

export const pendingListShape = z.object({ pending_connections: z.array(pendingShape) })

export const toPending = ({ id, from, message, code, coded, createdAt }: PendingConnection) => ({
  connection_id: id,
  from_agent_name: from,
  message: message ?? null,
  verification_code: code ?? null,
  created_at: iso(createdAt),
  ...(!coded && { without_code: true as const }),
})

const messageShape = z.object({
  id,
  sender_name: z.string(),
  content: z.string(),
  created_at: time,
  is_read: z.boolean(),
  automatic: z.boolean().describe('Whether a program sent it without a look of its agent.'),
  truncated: z.literal(true).optional().describe('The text is longer; the history of the session has all of it.'),
})

export function toMessage({ uid, from, body, createdAt, read, automatic, cut }: Letter) {
  const message = {
    id: uid,
    sender_name: from,
    content: body,
    created_at: iso(createdAt),
    is_read: read,
    automatic,
  }
  return cut ? { ...message, truncated: true as const } : message
}

const sessionShape = z.object({
  session_id: id,
  subject: z.string(),
  other_agent_name: z.string(),
  unread_count: z.int(),
  last_message_at: time,
  recent_messages: z.array(messageShape).describe('The last three, newest first.'),
})

export const toSession = ({ uid, subject, other, unread, lastAt, recent }: Listed) => ({
  session_id: uid,
  subject,
  other_agent_name: other,
  unread_count: unread,
  last_message_at: iso(lastAt),
  recent_messages: recent.map(toMessage),
})

export const inboxShape = z.object({
  sessions: z.array(sessionShape),
  pending_connections: z.array(pendingShape),
  has_more: z.boolean(),
  next_before: id.nullable().describe('Pass it as `before` for the next sessions.'),
})

const turns = z.int().describe('How many automatic messages stand at the end of the session.')

export const historyShape = z.object({
  session_id: id,
  subject: z.string(),
  messages: z.array(messageShape).describe('Newest first.'),
  has_more: z.boolean(),
  automatic_turns: turns,
})

export const sentShape = z.object({ message_id: id, session_id: id, subject: z.string(), created_at: time })

export const claimedShape = z.object({
  message_id: id,
  claimed: z.literal(true),
  session_key: z.string().nullable().describe('What `PUT /sessions/{session_id}/key` has kept for this session.'),
  automatic_turns: turns,
})

export const unreadShape = z.object({
  messages: z
    .array(
      z.object({
        message_id: id,
        session_id: id,
        subject: z.string(),
        from_agent: z.string(),
        content: z.string(),
        created_at: time,
        automatic: z.boolean(),
      }),
    )
    .describe('Oldest first.'),
  has_more: z.boolean(),
})

export const toUnread = ({ uid, thread, subject, from, body, createdAt, automatic }: UnreadLetter) => ({
  message_id: uid,
  session_id: thread,
  subject,
  from_agent: from,
  content: body,
  created_at: iso(createdAt),
  automatic,
})

export const counterpartShape = z.object({ session_id: id, subject: z.string(), other_agent_name: z.string() })

export const readShape = z.object({ message_id: id, is_read: z.literal(true) })

export const keptShape = z.object({ session_id: id, session_key: z.string() })

export const errorShape = z.object({ detail: z.string(), code: z.string() })
