/** Admission of a message to its recipients: by leases on their inboxes, their contact policies, and the room there. */
import type { Tx } from '../../db/port.ts'
import { listRecipients, raiseUnread } from '../../store/agents.ts'
import type { Agent } from '../agents/agents.ts'
import { type Judgement, type Judging, judge, type Refusal } from '../contacts/judging.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { findInboxLease } from '../leases/overlaps.ts'
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
  const judged = exempt ? undefined : await refuse(hub, { tx, note, sender, recipients, handshake, ...thread })
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

type Asking = Omit<Judging, 'recipients'> & { readonly recipients: readonly Recipient[] }

/** Who does not take it: by a lease on its inbox, or by its contact policy. One statement tells whether either is asked. */
async function refuse(hub: Hub, { recipients, ...asking }: Asking): Promise<Judgement | undefined> {
  const { contacts, inboxLeases } = hub.rules
  if (!contacts.enforced && !inboxLeases) return undefined
  const ids = recipients.map(({ agent }) => agent.id)
  const rows = new Map((await listRecipients(asking.tx, ids)).map((row) => [row.id, row]))
  const reserved = new Map<number, Refusal>()
  for (const { agent } of recipients) {
    if (!inboxLeases || rows.get(agent.id)?.reserved !== 1) continue
    const lease = await findInboxLease(asking.tx, { agent, senderId: asking.sender.id, now: hub.clock.now() })
    if (lease !== undefined) reserved.set(agent.id, inboxReserved(agent, lease))
  }
  const asked = recipients.flatMap(({ agent }) => {
    const row = rows.get(agent.id)
    // Nobody needs permission to write to oneself.
    const free = row === undefined || row.contact_policy === 'open' || agent.id === asking.sender.id
    return free || reserved.has(agent.id) || !contacts.enforced ? [] : [{ agent, row }]
  })
  if (asked.length === 0) return { refusals: reserved, asked: [] }
  const judged = await judge(hub, { ...asking, recipients: asked })
  return { ...judged, refusals: new Map([...reserved, ...judged.refusals]) }
}

const inboxReserved = ({ name }: Agent, lease: { agent: string; pattern: string; expires_at: number }): Refusal => ({
  code: 'FILE_RESERVATION_CONFLICT',
  message: `The inbox of ${name} is reserved by ${lease.agent} (${lease.pattern}).`,
  hint: `Send again once ${lease.agent} has released it, or after ${new Date(lease.expires_at).toISOString()}.`,
})

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
