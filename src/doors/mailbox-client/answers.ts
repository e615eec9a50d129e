/** The answers of a Parley server that its client reads, as the post door writes them. */
import { z } from 'zod'

const message = z.object({
  id: z.string(),
  sender_name: z.string(),
  content: z.string(),
  created_at: z.string(),
  is_read: z.boolean(),
  /** The text goes on: a list has only its beginning. */
  truncated: z.boolean().optional(),
})

export type SessionMessage = z.output<typeof message>

const listed = z.object({
  session_id: z.string(),
  subject: z.string(),
  other_agent_name: z.string(),
  unread_count: z.number(),
  last_message_at: z.string(),
  recent_messages: z.array(message),
})

const pendingConnection = z.object({
  connection_id: z.string(),
  from_agent_name: z.string(),
  message: z.string().nullish(),
  verification_code: z.string().nullish(),
  created_at: z.string(),
  /** It has no code, and is answered by its id. */
  without_code: z.boolean().optional(),
})

export type PendingConnection = z.output<typeof pendingConnection>

export const pendingConnections = z.object({ pending_connections: z.array(pendingConnection) })

export const inbox = z.object({
  sessions: z.array(listed),
  pending_connections: z.array(pendingConnection),
  has_more: z.boolean().optional(),
})

export type Inbox = z.output<typeof inbox>

export const history = z.object({ session_id: z.string(), subject: z.string(), messages: z.array(message) })

export type History = z.output<typeof history>

export const sent = z.object({
  message_id: z.string(),
  session_id: z.string(),
  subject: z.string(),
  created_at: z.string(),
})

export const requested = z.object({
  connection_id: z.string(),
  /** Null where the other had asked too: then the two are connected. */
  verification_code: z.string().nullable(),
  target_agent_name: z.string(),
  status: z.string(),
})

export const approved = z.object({ connection_id: z.string(), status: z.string(), connected_agent_name: z.string() })

export const denied = z.object({ connection_id: z.string(), status: z.string(), from_agent_name: z.string() })

export const self = z.object({ name: z.string() })

const unreadMessage = z.object({
  message_id: z.string(),
  session_id: z.string(),
  subject: z.string(),
  from_agent: z.string(),
  content: z.string(),
  created_at: z.string(),
  automatic: z.boolean(),
})

export type UnreadMessage = z.output<typeof unreadMessage>

export const unread = z.object({ messages: z.array(unreadMessage), has_more: z.boolean() })

export const session = z.object({ session_id: z.string(), subject: z.string(), other_agent_name: z.string() })

export const claimed = z.object({
  /** The session of the agent's own program that this one is continued in; absent before the first message. */
  session_key: z.string().nullish(),
  /** Messages at the end of the session that bridges have sent by themselves. */
  automatic_turns: z.number(),
})

export type Claim = z.output<typeof claimed>

/** Where the status alone says it all. */
export const anything = z.object({})

/** An error as the post door writes it. */
export const fault = z.object({ detail: z.unknown(), code: z.string().optional() })

/** The events of the WebSocket about connections. */
export const connectionEvent = z.discriminatedUnion('type', [
  // That somebody asks: what it asks for, and whether it still does, the server tells.
  z.object({ type: z.literal('connection_request'), connection_id: z.string() }),
  z.object({ type: z.literal('connection_approved'), connection_id: z.string(), connected_agent: z.string() }),
])

export type ApprovedConnection = Extract<z.output<typeof connectionEvent>, { type: 'connection_approved' }>
