/** The bus door's words for the hub's things (bus.sync.shape). Times are unix seconds (bus.times.seconds). */
import { z } from 'zod'
import type { Said, ThreadMessage } from '../../core/topics/saying.ts'
import type { Synced } from '../../core/topics/sync.ts'
import type { Topic } from '../../core/topics/topics.ts'
import { seconds } from '../words/times.ts'
import { topicMessageWords, topicWords } from '../words/topics.ts'

const status = z.enum(['open', 'closed'])

export const topicShape = z.object({ topic_id: z.string(), name: z.string(), status })

export const toTopicShape = ({ uid, name, status }: Topic) => ({ topic_id: uid, name, status })

export const topicDetailShape = topicShape.extend({
  created_at: z.number(),
  closed_at: z.number().nullable(),
  close_reason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
})

export const toTopicDetail = (topic: Topic) => topicWords(topic, seconds)

export const messageShape = z.object({
  message_id: z.string(),
  topic_id: z.string(),
  seq: z.number(),
  sender: z.string(),
  message_type: z.string(),
  reply_to: z.string().nullable(),
  content_markdown: z.string(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  client_message_id: z.string().nullable(),
  created_at: z.number(),
})

const toMessage = (topicId: string, message: ThreadMessage) => topicMessageWords(topicId, message, seconds)

export const cursorShape = z.object({ last_seq: z.number(), updated_at: z.number() })

export const syncShape = z.object({
  topic_id: z.string(),
  agent_name: z.string(),
  topic_status: status,
  status: z.enum(['ready', 'timeout', 'empty']),
  cursor: cursorShape,
  sent: z.array(z.object({ message: messageShape, duplicate: z.boolean() })),
  received: z.array(messageShape),
  received_count: z.number(),
  has_more: z.boolean().describe('Call sync again for more.'),
})

export function toSync({ topic, name, cursor, sent, received, hasMore, timedOut }: Synced): z.output<typeof syncShape> {
  return {
    topic_id: topic.uid,
    agent_name: name,
    topic_status: topic.status,
    status: received.length > 0 ? 'ready' : timedOut ? 'timeout' : 'empty',
    cursor: { last_seq: cursor.lastSeq, updated_at: seconds(cursor.updatedAt) },
    sent: sent.map(({ message, duplicate }: Said) => ({ message: toMessage(topic.uid, message), duplicate })),
    received: received.map((message) => toMessage(topic.uid, message)),
    received_count: received.length,
    has_more: hasMore,
  }
}
