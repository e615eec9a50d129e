/** Admission of a message to its recipients: by their contact policies, and by the room in their inboxes. */
import type { Tx } from '../../db/port.ts'
import { listRecipients, raiseUnread } from '../../store/agents.ts'
import type { Agent } from '../agents/agents.ts'
import { type Judgement, type Judging, judge, type Refusal } from '../contacts/judging.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { hasInboxRoom } from './quota.ts'
import type { Recipient } from './recipients.ts'

/** A recipient that a message did not reach, and the reason. */
export interface Blocked extends Refusal {
  readonly recipient: Recipient
}

interface Admission {
  readonly tx: Tx
  readonly note: Note
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  /** The thread that the message joins, if there is one. */
  readonly threadId: number | undefined
  readonly threadKey: string | undefined
  readonly handshake: boolean | undefined
  /** Past the policies; room is needed all the same. */
  readonly exempt: boolean
}

interface Admitted {
  readonly passed: readonly Recipient[]
  readonly blocked: readonly Blocked[]
  /** Those who are due a message about a contact request (mail.contact.filed). */
  readonly asked: readonly Agent[]
}

/**
 * Also counts the message as unread for each recipient that takes it. Their rows stay locked until the commit: the
 * messages of one inbox then become visible in the order of their ids and times, and reading on from the last known id
 * misses nothing (mail.inbox.reads-on).
 */
export async function admit(
  hub: Hub,
  { tx, note, sender, recipients, handshake = hub.rules.contacts.handshake, exempt, ...thread }: Admission,
): Promise<Admitted> {
  const judged = exempt ? undefined : await askPolicies(hub, { tx, note, sender, recipients, handshake, ...thread })
  const asked = judged?.asked ?? []
  const blocked: Blocked[] = []
  const willing: Recipient[] = []
  for (const recipient of recipients) {
    const refusal = judged?.refusals.get(recipient.agent.id) ?? (await overQuota(hub, tx, recipient.agent))
    if (refusal === undefined) willing.push(recipient)
    else blocked.push({ recipient, ...refusal })
  }
  const ids = willing.map(({ agent }) => agent.id)
  const raised = ids.length === 0 ? [] : await raiseUnread(tx, ids, hub.limits.mailboxDepth)
  if (raised.length === willing.length) return { passed: willing, blocked, asked }
  const full = willing.filter(({ agent }) => !raised.includes(agent.id))
  return {
    passed: willing.filter(({ agent }) => raised.includes(agent.id)),
    blocked: [...blocked, ...full.map((recipient) => ({ recipient, ...mailboxFull(hub, recipient.agent) }))],
    asked,
  }
}

async function askPolicies(
  hub: Hub,
  { recipients, ...asking }: Omit<Judging, 'recipients'> & { recipients: readonly Recipient[] },
): Promise<Judgement | undefined> {
  if (!hub.rules.contacts.enforced) return undefined
  const ids = recipients.map(({ agent }) => agent.id)
  const rows = new Map((await listRecipients(asking.tx, ids)).map((row) => [row.id, row]))
  const asked = recipients.flatMap(({ agent }) => {
    const row = rows.get(agent.id)
    // Nobody needs permission to write to oneself.
    return row === undefined || row.contact_policy === 'open' || agent.id === asking.sender.id ? [] : [{ agent, row }]
  })
  return asked.length === 0 ? undefined : judge(hub, { ...asking, recipients: asked })
}

async function overQuota(hub: Hub, tx: Tx, agent: Agent): Promise<Refusal | undefined> {
  const { inboxQuota } = hub.rules
  if (inboxQuota === undefined || (await hasInboxRoom(hub, tx, { agentId: agent.id, quota: inboxQuota })))
    return undefined
  return {
    code: 'QUOTA_EXCEEDED',
    message: `The inbox of ${agent.name} holds ${inboxQuota} messages, as many as it may.`,
    hint: 'Nothing was stored for it. The operator of Parley can raise QUOTA_INBOX_LIMIT_COUNT.',
  }
}

function mailboxFull(hub: Hub, { name }: Agent): Refusal {
  return {
    code: 'MAILBOX_FULL',
    message: `The mailbox of ${name} holds ${hub.limits.mailboxDepth} unread messages and takes no more.`,
    hint: `Nothing was stored. Send again once ${name} has read some of them, or raise MAILBOX_MAX_DEPTH.`,
  }
}
