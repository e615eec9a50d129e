/** The words of `--json` for topics: those of the bus, times in ISO 8601. */

import type { Peer } from '../../../core/topics/members.ts'
import type { TopicSummary } from '../../../core/topics/topic-admin.ts'
import type { Topic } from '../../../core/topics/topics.ts'
import type { Entry } from '../../../core/topics/transcript.ts'
import { iso } from '../../words/times.ts'
import { peerWords, topicMessageWords, topicWords } from '../../words/topics.ts'

export const toTopic = (topic: Topic) => topicWords(topic, iso)

export const toSummary = (topic: TopicSummary) => ({
  ...toTopic(topic),
  messages: topic.messages,
  peers: topic.peers,
  last_activity: iso(topic.activeAt),
})

/** People answer a message by its number. */
export const toMessage = ({ uid }: Topic, entry: Entry) => ({
  ...topicMessageWords(uid, entry, iso),
  reply_to_seq: entry.replyToSeq ?? null,
})

export const toPeer = (peer: Peer, now: number) => peerWords(peer, now, iso)
