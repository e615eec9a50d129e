/** Topics in the words of the bus, as its tools and `--json` say them; each door chooses how it writes a time. */
import type { Peer } from '../../core/topics/members.ts'
import type { ThreadMessage } from '../../core/topics/saying.ts'
import type { Topic } from '../../core/topics/topics.ts'
import { seconds } from './times.ts'

type WriteTime<Time> = (ms: number) => Time

export const topicWords = <Time>(topic: Topic, time: WriteTime<Time>) => ({
  topic_id: topic.uid,
  name: topic.name,
  status: topic.status,
  created_at: time(topic.createdAt),
  closed_at: topic.closedAt === undefined ? null : time(topic.closedAt),
  close_reason: topic.closeReason ?? null,
  metadata: topic.metadata ?? null,
})

export const topicMessageWords = <Time>(topicId: string, message: ThreadMessage, time: WriteTime<Time>) => ({
  message_id: message.uid,
  topic_id: topicId,
  seq: message.seq,
  sender: message.sender,
  message_type: message.kind,
  reply_to: message.replyToUid ?? null,
  content_markdown: message.body,
  metadata: message.metadata ?? null,
  client_message_id: message.clientId ?? null,
  created_at: time(message.createdAt),
})

export const peerWords = <Time>({ name, lastSeq, seenAt }: Peer, now: number, time: WriteTime<Time>) => ({
  agent_name: name,
  last_seq: lastSeq,
  updated_at: time(seenAt),
  age_seconds: seconds(now - seenAt),
})
