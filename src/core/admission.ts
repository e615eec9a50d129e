/** Whether those a message is for take it: by their contact policies, and as long as there is room. */
import type { Tx } from '../db/port.ts'
import { listRecipients, type RecipientRow } from '../store/agents.ts'
import type { Agent } from './agents.ts'
import type { Note } from './commit.ts'
import { judge, type Refusal } from './contacts.ts'
import type { Hub } from './hub.ts'
import { hasInboxRoom } from './quota.ts'
import type { Recipient } from './recipients.ts'

/** Somebody whom a message did not reach, and why. */
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
  readonly handshake: boolean | undefined
  /** Whether the policies are not asked, only whether there is room. */
  readonly exempt: boolean
}

export async function admit(
  hub: Hub,
  { tx, note, sender, recipients, threadId, handshake = hub.rules.contacts.handshake, exempt }: Admission,
): Promise<{ passed: Recipient[]; blocked: Blocked[] }> {
  const ids = recipients.map(({ agent }) => agent.id)
  const rows = new Map((await listRecipients(tx, ids)).map((row) => [row.id, row]))
  const asked = recipients.flatMap(({ agent }) => {
    const row = rows.get(agent.id)
    // Nobody needs leave to write to oneself.
    return row === undefined || row.contact_policy === 'open' || agent.id === sender.id ? [] : [{ agent, row }]
  })
  const refusals =
    asked.length > 0 && hub.rules.contacts.enforced && !exempt
      ? await judge(hub, { tx, note, sender, recipients: asked, threadId, handshake })
      : undefined
  const passed: Recipient[] = []
  const blocked: Blocked[] = []
  for (const recipient of recipients) {
    const { agent } = recipient
    const refusal = refusals?.get(agent.id) ?? (await crowded(hub, tx, agent, rows.get(agent.id)))
    if (refusal === undefined) passed.push(recipient)
    else blocked.push({ recipient, ...refusal })
  }
  return { passed, blocked }
}

async function crowded(hub: Hub, tx: Tx, agent: Agent, row: RecipientRow | undefined): Promise<Refusal | undefined> {
  if (row !== undefined && row.unread >= hub.limits.mailboxDepth) return mailboxFull(hub, agent)
  const { inboxQuota } = hub.rules
  if (inboxQuota === undefined || (await hasInboxRoom(hub, tx, { agentId: agent.id, quota: inboxQuota })))
    return undefined
  return {
    code: 'QUOTA_EXCEEDED',
    message: `The inbox of ${agent.name} holds ${inboxQuota} messages, as many as it may.`,
    hint: 'Nothing was stored for it. Whoever runs Parley must raise QUOTA_INBOX_LIMIT_COUNT.',
  }
}

export function mailboxFull(hub: Hub, { name }: Agent): Refusal {
  return {
    code: 'MAILBOX_FULL',
    message: `The mailbox of ${name} holds ${hub.limits.mailboxDepth} unread messages and takes no more.`,
    hint: `Nothing was stored. Send again once ${name} has read some of them, or raise MAILBOX_MAX_DEPTH.`,
  }
}
