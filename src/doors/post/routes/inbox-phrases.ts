/** Sessions and messages in the words of the post door, apart from its shapes: a thread that reads loads this, and no more. */
import type { Listed, Phrase } from '../../../core/mail/conversations.ts'
import type { Letter } from '../../../core/mail/letters.ts'
import { iso } from '../../words/times.ts'

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

const toSession = ({ uid, subject, other, unread, lastAt, recent }: Listed) => ({
  session_id: uid,
  subject,
  other_agent_name: other,
  unread_count: unread,
  last_message_at: iso(lastAt),
  recent_messages: recent.map(toMessage),
})

/** The answer of `/inbox`, as JSON. */
export const phrase: Phrase<{ pending: unknown }> = ({ conversations, next }, { pending }) =>
  JSON.stringify({
    sessions: conversations.map(toSession),
    pending_connections: pending,
    has_more: next !== undefined,
    next_before: next ?? null,
  })
