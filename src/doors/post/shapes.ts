/** Sessions, connections and messages in the words of the post door. */
import type { PendingConnection } from '../../core/contact-requests/pending.ts'
import type { ConversationMessage } from '../../core/mail/conversation-messages.ts'
import type { Listed } from '../../core/mail/conversations.ts'
import type { UnreadMessage } from '../../core/mail/unread.ts'
import { iso } from '../words/times.ts'

export const toPending = ({ id, from, message, code, coded, createdAt }: PendingConnection) => ({
  connection_id: id,
  from_agent_name: from,
  message: message ?? null,
  verification_code: code ?? null,
  created_at: iso(createdAt),
  ...(!coded && { without_code: true as const }),
})

const toStanding = ({ trust, hops }: ConversationMessage) => ({
  ...(trust !== undefined && { trust }),
  ...(hops > 0 && { hops }),
})

export function toMessage(given: ConversationMessage) {
  const { uid, from, body, createdAt, read, automatic, cut } = given

  const message = {
    id: uid,
    sender_name: from,
    content: body,
    created_at: iso(createdAt),
    is_read: read,
    automatic,
    ...toStanding(given),
  }
  return cut ? { ...message, truncated: true as const } : message
}

export const toSession = ({ uid, subject, other, unread, lastAt, recent }: Listed) => ({
  session_id: uid,
  subject,
  other_agent_name: other,
  unread_count: unread,
  last_message_at: iso(lastAt),
  recent_messages: recent.map(toMessage),
})

export const toUnread = (given: UnreadMessage) => ({
  message_id: given.uid,
  session_id: given.thread,
  subject: given.subject,
  from_agent: given.from,
  content: given.body,
  created_at: iso(given.createdAt),
  automatic: given.automatic,
  ...toStanding(given),
})
