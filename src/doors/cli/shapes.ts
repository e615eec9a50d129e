/** The words of `--json`: those of the bus, times in ISO 8601. */

import type { TopicSummary } from '../../core/topics/care.ts'
import type { Peer } from '../../core/topics/members.ts'
import type { Topic } from '../../core/topics/topics.ts'
import type { Entry } from '../../core/topics/transcript.ts'
import { iso } from './times.ts'

export const toTopic = ({ uid, name, status, createdAt, closedAt, closeReason, metadata }: Topic) => ({
  topic_id: uid,
  name,
  status,
  created_at: iso(createdAt),
  closed_at: closedAt === undefined ? null : iso(closedAt),
  close_reason: closeReason ?? null,
  metadata: metadata ?? null,
})

export const toSummary = (topic: TopicSummary) => ({
  ...toTopic(topic),
  messages: topic.messages,
  peers: topic.peers,
  last_activity: iso(topic.activeAt),
})

export const toMessage = ({ uid }: Topic, entry: Entry) => ({
  message_id: entry.uid,
  topic_id: uid,
  seq: entry.seq,
  sender: entry.sender,
  message_type: entry.kind,
  reply_to: entry.replyToUid ?? null,
  reply_to_seq: entry.replyToSeq ?? null,
  content_markdown: entry.body,
  metadata: entry.metadata ?? null,
  client_message_id: entry.clientId ?? null,
  created_at: iso(entry.createdAt),
})

export const toPeer = ({ name, lastSeq, seenAt }: Peer, now: number) => ({
  agent_name: name,
  last_seq: lastSeq,
  updated_at: iso(seenAt),
  age_seconds: (now - seenAt) / 1000,
})
