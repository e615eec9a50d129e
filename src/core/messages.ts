/** Sending: a message is appended to one thread and delivered to some agents. */
import { HubError } from '../base/errors.ts'
import type { Tx } from '../db/port.ts'
import { raiseUnread } from '../store/agents.ts'
import { insertDelivery } from '../store/deliveries.ts'
import { findByClientId, insertClientId, insertMessage } from '../store/messages.ts'
import { insertThread, takeSeq } from '../store/threads.ts'
import { type Acting, type Agent, actAs, ensureAgent, mailTopic } from './agents.ts'
import { commit } from './commit.ts'
import type { Hub } from './hub.ts'

export interface Sending {
  readonly to: string
  readonly body: string
  /** The sender's own name for the message: with it a retry stores nothing and the first content stands. */
  readonly clientId?: string | undefined
}

export interface Sent {
  /** The sender's own id, else the one the hub made. */
  readonly id: string
  readonly duplicate: boolean
}

export async function send(hub: Hub, acting: Acting, { to, body, clientId }: Sending): Promise<Sent> {
  const sender = await actAs(hub, acting)
  const recipient = await ensureAgent(hub, acting.project, to)
  const uid = hub.ids.uuid()
  return commit(hub, async (tx, note) => {
    const name = clientId === undefined ? undefined : { senderId: sender.id, recipientId: recipient.id, clientId }
    if (name && (await findByClientId(tx, name))) return { id: name.clientId, duplicate: true }
    const now = hub.clock.now()
    const place = (name && (await joinThread(tx, sender, recipient, name.clientId))) ?? {
      threadId: await insertThread(tx, { uid, projectId: recipient.projectId, nextSeq: 2, now }),
      seq: 1,
    }
    const messageId = await insertMessage(tx, { uid, ...place, senderId: sender.id, clientId, body, now })
    if (name) await insertClientId(tx, name, messageId)
    await insertDelivery(tx, messageId, recipient.id)
    // Last, because on PostgreSQL the row stays locked from here to the commit.
    if (!(await raiseUnread(tx, recipient.id, hub.limits.mailboxDepth))) throw mailboxFull(hub, recipient)
    note({
      kind: 'message.sent',
      projectId: recipient.projectId,
      agentId: recipient.id,
      threadId: place.threadId,
      messageId,
      wakes: [mailTopic(recipient.id)],
    })
    return { id: clientId ?? uid, duplicate: false }
  })
}

/**
 * A message that goes by the id of one the sender got from this recipient is the answer to it and joins its thread
 * (DECISIONS, mailbox.md 2). Anybody else's use of that id joins nothing: an id is no key to a conversation.
 */
async function joinThread(tx: Tx, sender: Agent, recipient: Agent, clientId: string) {
  const asked = await findByClientId(tx, { senderId: recipient.id, recipientId: sender.id, clientId })
  if (asked === undefined) return undefined
  return { threadId: asked.thread_id, seq: await takeSeq(tx, asked.thread_id) }
}

function mailboxFull(hub: Hub, { name }: Agent): HubError {
  return new HubError(
    'MAILBOX_FULL',
    `The mailbox of ${name} holds ${hub.limits.mailboxDepth} unread messages and takes no more.`,
    {
      hint: `Nothing was stored. Send again once ${name} has read some of them (check_mail), or raise MAILBOX_MAX_DEPTH.`,
    },
  )
}
