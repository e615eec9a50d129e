/** The answers of the post door: the server writes them, and its client (`parley mailbox`) reads them. */
import { z } from 'zod'

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
    .describe('Null if the other agent has asked too: then the connection is active.'),
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
    .describe('Null if only the owners see codes, or if the request has no code.'),
  created_at: time,
  without_code: z
    .literal(true)
    .optional()
    .describe('The request has no code: `POST /connections/{connection_id}/approve` or `/deny` answers it.'),
})

export const pendingListShape = z.object({ pending_connections: z.array(pendingShape) })

const standing = {
  trust: z
    .enum(['person', 'contact', 'project', 'stranger'])
    .optional()
    .describe('Who the sender is to you; left out of your own messages.'),
  hops: z.int().optional().describe('Woken messages in a row that end with this one.'),
}

const messageShape = z.object({
  id,
  sender_name: z.string(),
  content: z.string(),
  created_at: time,
  is_read: z.boolean(),
  automatic: z.boolean().describe('Whether a program sent it, and not its agent.'),
  ...standing,
  truncated: z.literal(true).optional().describe('The text is cut; the history of the session has all of it.'),
})

const sessionShape = z.object({
  session_id: id,
  subject: z.string(),
  other_agent_name: z.string(),
  unread_count: z.int(),
  last_message_at: time,
  recent_messages: z.array(messageShape).describe('The last three, newest first.'),
})

export const inboxShape = z.object({
  sessions: z.array(sessionShape),
  pending_connections: z.array(pendingShape),
  has_more: z.boolean(),
  next_before: id.nullable().describe('Pass it as `before` for the next sessions.'),
})

const turns = z.int().describe('The number of automatic messages at the end of the session.')

export const historyShape = z.object({
  session_id: id,
  subject: z.string(),
  messages: z.array(messageShape).describe('Newest first.'),
  has_more: z.boolean(),
  next_before: id.nullable().describe('Pass it as `before` for the messages before these.'),
  automatic_turns: turns,
})

export const sentShape = z.object({ message_id: id, session_id: id, subject: z.string(), created_at: time })

export const claimedShape = z.object({
  message_id: id,
  claimed: z.literal(true),
  session_key: z
    .string()
    .nullable()
    .describe('The name that `PUT /sessions/{session_id}/key` stored for this session.'),
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
        ...standing,
      }),
    )
    .describe('Oldest first.'),
  has_more: z.boolean(),
  next_after: id.nullable().describe('Pass it as `after` for the next messages.'),
})

export const counterpartShape = z.object({ session_id: id, subject: z.string(), other_agent_name: z.string() })

export const readShape = z.object({ message_id: id, is_read: z.literal(true) })

export const keptShape = z.object({ session_id: id, session_key: z.string() })

export const errorShape = z.object({ detail: z.string(), code: z.string() })

export type SessionMessage = z.output<typeof messageShape>
export type UnreadMessage = z.output<typeof unreadShape>['messages'][number]
export type PendingRequest = z.output<typeof pendingShape>
export type Inbox = z.output<typeof inboxShape>
export type History = z.output<typeof historyShape>
