/** Admission of a message to its recipients: by leases on their inboxes, their contact policies, and the room there. */
import type { Tx } from '../../db/port.ts'
import { listRecipients, type RecipientRow } from '../../store/agents/agents.ts'
import type { Terms } from '../../store/messages/admission.ts'
import type { Agent } from '../agents/agents.ts'
import { type Judgement, judge, type Refusal } from '../contacts/judging.ts'
import { renewedBefore } from '../contacts/standing.ts'
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
  /** Agents that are due a message about a contact request (mail.contact.filed). */
  readonly asked: readonly Agent[]
}

/**
 * Terms that settle the admission: recipients have room and are open to the sender. The statement that counts their unread
 * mail checks both, in place of all else in this file. A contact that ends soon is not enough: a message makes it last longer.
 */
export function findTerms(
  hub: Hub,
  { sender, recipients, exempt }: Pick<Admission, 'sender' | 'recipients' | 'exempt'>,
): Terms | undefined {
  const { contacts, inboxLeases, inboxQuota } = hub.rules
  if (recipients.length === 0 || inboxQuota !== undefined) return undefined
  const until = renewedBefore(hub.clock.now(), contacts.autoMs)
  const contact = exempt || !contacts.enforced ? undefined : { senderId: sender.id, until }
  return { limit: hub.limits.mailboxDepth, open: { leases: inboxLeases && !exempt, contact } }
}

export async function admit(hub: Hub, admission: Admission): Promise<Admitted> {
  const { tx, recipients } = admission
  const { mailboxDepth } = hub.limits
  if (recipients.length === 0) return { passed: [], blocked: [], asked: [] }
  const rows = new Map((await listRecipients(tx, idsOf(recipients))).map((row) => [row.id, row]))
  const reserved = await listReserved(hub, admission, rows)
  const judged = await askPolicies(hub, { ...admission, recipients: recipients.filter(isFree(reserved)) }, rows)
  const blocked: Blocked[] = []
  const passed: Recipient[] = []
  for (const recipient of recipients) {
    const { agent } = recipient
    const refusal =
      reserved.get(agent.id) ??
      judged?.refusals.get(agent.id) ??
      (await overQuota(hub, tx, agent)) ??
      ((rows.get(agent.id)?.unread ?? 0) < mailboxDepth ? undefined : mailboxFull(hub, agent))
    if (refusal === undefined) passed.push(recipient)
    else blocked.push({ recipient, ...refusal })
  }
  return { passed, blocked, asked: judged?.asked ?? [] }
}

/** The recipients whose inboxes another has reserved (mail.lease.inbox). */
async function listReserved(
  hub: Hub,
  { tx, sender, recipients, exempt }: Admission,
  rows: ReadonlyMap<number, RecipientRow>,
): Promise<ReadonlyMap<number, Refusal>> {
  const reserved = new Map<number, Refusal>()
  if (exempt || !hub.rules.inboxLeases) return reserved
  for (const { agent } of recipients) {
    if (rows.get(agent.id)?.reserved !== 1) continue
    const lease = await findInboxLease(tx, { agent, senderId: sender.id, now: hub.clock.now() })
    if (lease !== undefined) reserved.set(agent.id, inboxReserved(agent, lease))
  }
  return reserved
}

const isFree =
  (reserved: ReadonlyMap<number, Refusal>) =>
  ({ agent }: Recipient): boolean =>
    !reserved.has(agent.id)

const inboxReserved = ({ name }: Agent, lease: { agent: string; pattern: string; expires_at: number }): Refusal => ({
  code: 'FILE_RESERVATION_CONFLICT',
  message: `The inbox of ${name} is reserved by ${lease.agent} (${lease.pattern}).`,
  hint: `Send again once ${lease.agent} has released it, or after ${new Date(lease.expires_at).toISOString()}.`,
})

async function askPolicies(
  hub: Hub,
  { recipients, exempt, handshake = hub.rules.contacts.handshake, ...asking }: Admission,
  rows: ReadonlyMap<number, RecipientRow>,
): Promise<Judgement | undefined> {
  if (exempt || !hub.rules.contacts.enforced) return undefined
  const asked = recipients.flatMap(({ agent }) => {
    const row = rows.get(agent.id)
    // Nobody needs permission to write to oneself.
    return row === undefined || row.contact_policy === 'open' || agent.id === asking.sender.id ? [] : [{ agent, row }]
  })
  return asked.length === 0 ? undefined : judge(hub, { ...asking, handshake, recipients: asked })
}

const idsOf = (recipients: readonly Recipient[]): number[] => recipients.map(({ agent }) => agent.id)

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
