/** Messages to a topic: for all that have joined it, in the order of its `seq`. */
import { HubError } from '../../base/errors.ts'
import { traceparent } from '../../base/tracing.ts'
import type { Tx } from '../../db/port.ts'
import { findInThread, findMessageId, type ThreadMessageRow } from '../../store/messages/messages.ts'
import { insertMail } from '../../store/messages/sending.ts'
import { insertAuthor } from '../../store/pages/people.ts'
import type { TopicRow } from '../../store/threads/threads.ts'
import type { Agent } from '../agents/agents.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { threadChannel } from '../messages/placing.ts'

export interface Outgoing {
  readonly body: string
  readonly kind: string
  /** The uid of a message of the same topic. */
  readonly replyToUid?: string | undefined
  readonly metadata?: Record<string, unknown> | undefined
  /** The sender's own name for the message: repeated, it returns the stored one and takes no `seq`. */
  readonly clientId?: string | undefined
  /** The person who writes as HumanOverseer. */
  readonly author?: string | undefined
}

export interface ThreadMessage {
  readonly uid: string
  readonly seq: number
  readonly sender: string
  readonly kind: string
  readonly replyToUid: string | undefined
  readonly body: string
  readonly metadata: Record<string, unknown> | undefined
  readonly clientId: string | undefined
  readonly createdAt: number
}

export interface Said {
  readonly message: ThreadMessage
  readonly duplicate: boolean
}

export const toThreadMessage = (row: ThreadMessageRow): ThreadMessage => ({
  uid: row.uid,
  seq: row.seq,
  sender: row.sender,
  kind: row.kind,
  replyToUid: row.reply_to ?? undefined,
  body: row.body,
  metadata: row.metadata === null ? undefined : (JSON.parse(row.metadata) as Record<string, unknown>),
  clientId: row.client_id ?? undefined,
  createdAt: row.created_at,
})

interface Saying {
  readonly topic: TopicRow
  readonly sender: Agent
  readonly outbox: readonly Outgoing[]
  readonly note: Note
}

/** All or nothing: one bad message undoes the others with the transaction of the caller (bus.outbox.whole). */
export async function say(hub: Hub, tx: Tx, { topic, sender, outbox, note }: Saying): Promise<Said[]> {
  const said: Said[] = []
  for (const outgoing of outbox) {
    const { clientId } = outgoing
    const known =
      clientId === undefined ? undefined : await findInThread(tx, { threadId: topic.id, senderId: sender.id, clientId })
    if (known !== undefined) {
      said.push({ message: toThreadMessage(known), duplicate: true })
      continue
    }
    said.push({ message: await append(hub, tx, { topic, sender, outgoing, note }), duplicate: false })
  }
  return said
}

async function append(
  hub: Hub,
  tx: Tx,
  { topic, sender, outgoing, note }: Omit<Saying, 'outbox'> & { outgoing: Outgoing },
): Promise<ThreadMessage> {
  const { body, kind, replyToUid, metadata, clientId, author } = outgoing
  if (topic.status === 'closed') throw topicClosed(topic)
  const replied = replyToUid === undefined ? undefined : await findMessageId(tx, topic.id, replyToUid)
  if (replyToUid !== undefined && replied === undefined)
    throw new HubError('INVALID_ARGUMENT', `This topic has no message ${JSON.stringify(replyToUid)} to reply to.`, {
      reason: 'no_reply_target',
      hint: 'Nothing was sent. Name a message of the same topic.',
    })
  const [uid, now] = [hub.ids.short(), hub.clock.now()]
  const json = metadata === undefined ? undefined : JSON.stringify(metadata)
  const [placed] = await insertMail(tx, [
    {
      message: { mail: false, uid, senderId: sender.id, clientId, kind, replyTo: replied, body, metadata: json, now },
      threadId: topic.id,
      projectId: topic.project_id,
      guests: sender.projectId === topic.project_id ? [] : [sender.projectId],
      traceparent: traceparent(),
    },
  ])
  if (placed === undefined) throw topicClosed(topic)
  const { seq, messageId } = placed
  if (author !== undefined) await insertAuthor(tx, messageId, author)
  note({
    kind: 'message.said',
    projectId: topic.project_id,
    agentId: sender.id,
    threadId: topic.id,
    messageId,
    wakes: [threadChannel(topic.id)],
  })
  return { uid, seq, sender: sender.name, kind, replyToUid, body, metadata, clientId, createdAt: now }
}

/** Retrying a message stored before the close is allowed: it writes nothing. */
function topicClosed({ name }: TopicRow): HubError {
  return new HubError('TOPIC_CLOSED', `The topic ${JSON.stringify(name)} is closed: it can be read, not written to.`, {
    hint: 'Nothing was sent. Open the topic again, or make a new one.',
  })
}
