/** Admission of a message to its recipients: by their contact policies, and by the room in their inboxes. */
import type { Tx } from '../../db/port.ts'
import { listRecipients, type RecipientRow, raiseOpen, raiseUnread } from '../../store/agents.ts'
import type { Agent } from '../agents/agents.ts'
import { type Judgement, judge, type Refusal } from '../contacts/judging.ts'
import { LostRace, type Note } from '../hub/commit.ts'
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
export async function admit(hub: Hub, admission: Admission): Promise<Admitted> {
  const { tx, recipients } = admission
  const { mailboxDepth } = hub.limits
  const [first, ...others] = recipients
  if (first === undefined) return { passed: [], blocked: [], asked: [] }
  // One agent that is open to all, as at the mailbox: one statement does for everything below.
  const simple = others.length === 0 && hub.rules.inboxQuota === undefined
  if (simple && (await raiseOpen(tx, first.agent.id, mailboxDepth)))
    return { passed: recipients, blocked: [], asked: [] }

  const rows = new Map((await listRecipients(tx, idsOf(recipients))).map((row) => [row.id, row]))
  const judged = await askPolicies(hub, admission, rows)
  const blocked: Blocked[] = []
  const passed: Recipient[] = []
  for (const recipient of recipients) {
    const { agent } = recipient
    const refusal =
      judged?.refusals.get(agent.id) ??
      (await overQuota(hub, tx, agent)) ??
      ((rows.get(agent.id)?.unread ?? 0) < mailboxDepth ? undefined : mailboxFull(hub, agent))
    if (refusal === undefined) passed.push(recipient)
    else blocked.push({ recipient, ...refusal })
  }
  if (passed.length > 0 && !(await raiseUnread(tx, idsOf(passed), mailboxDepth)))
    throw new LostRace('A mailbox was filled meanwhile.')
  return { passed, blocked, asked: judged?.asked ?? [] }
}

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
