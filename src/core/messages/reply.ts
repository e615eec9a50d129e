/** Replies: in the thread of the message, about its subject, to its sender unless others are named. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { findMail, listRecipientsOf } from '../../store/mail/mail.ts'
import { sightOf } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, isNewcomer } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type Enclosing, enclosedOrFault } from './attachments.ts'
import { type Addressee, type Recipient, resolve } from './recipients.ts'
import { type Address, dispatch, type Importance, type Sent } from './send.ts'

interface Reply {
  readonly messageId: number
  readonly body: string
  /** The sender of the message, if left out; for one's own message, its recipients. */
  readonly to?: readonly Address[] | undefined
  readonly copies?: readonly Address[] | undefined
  readonly subjectPrefix?: string | undefined
  /** As in the message that is answered, if left out. */
  readonly importance?: Importance | undefined
  readonly ackRequired?: boolean | undefined
  readonly clientId?: string | undefined
  readonly enclosing?: Enclosing | undefined
  readonly seenThrough?: number | undefined
  readonly ttlMs?: number | undefined
}

export async function reply(
  hub: Hub,
  acting: Acting,
  { messageId, body, to, copies = [], subjectPrefix = 'Re:', clientId, enclosing, seenThrough, ttlMs, ...flags }: Reply,
): Promise<Sent> {
  const sender = await actAs(hub, acting)
  const sight = sightOf(acting.caller, sender.projectId)
  const original = await findMail(reader(hub), { id: messageId, sight, recipientId: sender.id })
  if (original === undefined) throw new HubError('MESSAGE_NOT_FOUND', `${sender.name} can see no message ${messageId}.`)
  if (original.topic !== null)
    throw new HubError(
      'INVALID_ARGUMENT',
      `Message ${messageId} was said in the topic ${JSON.stringify(original.topic)}.`,
      { reason: 'in_topic', hint: 'Answer it in the topic, or write to its sender.' },
    )
  const enclosed = await enclosedOrFault(hub, acting, { enclosing, sender, body, clientId })
  const named = await resolve(hub, { acting, sender, addresses: [...(to ?? []), ...copies] })
  const usual = to === undefined ? await usualRecipients(hub, sender, original) : []
  // Of two mentions of an agent the first decides.
  const once = new Map<number | object, Addressee>()
  for (const addressee of [...usual, ...named]) {
    const key = isNewcomer(addressee.agent) ? addressee.agent : addressee.agent.id
    if (!once.has(key)) once.set(key, addressee)
  }
  const recipients = [...once.values()]
  const { importance, ackRequired = original.ack_required === 1 } = flags
  const { own_subject } = original
  const draft = {
    body,
    subject: own_subject === null ? undefined : prefixed(own_subject, subjectPrefix),
    importance: importance ?? original.importance,
    ackRequired,
    replyTo: messageId,
    clientId,
    seenThrough,
    ttlMs,
  }
  return dispatch(hub, acting.caller, { sender, recipients, draft, enclosed })
}

async function usualRecipients(
  hub: Hub,
  sender: Agent,
  {
    id,
    sender_id,
    sender_project,
    sender: name,
  }: { id: number; sender_id: number; sender_project: number; sender: string },
): Promise<Recipient[]> {
  if (sender_id !== sender.id) return [{ agent: { id: sender_id, projectId: sender_project, name }, kind: 'to' }]
  const recipients = await listRecipientsOf(reader(hub), [id], { blind: false })
  return recipients
    .filter(({ kind }) => kind === 'to')
    .map(({ id, project_id: projectId, name }) => ({ agent: { id, projectId, name }, kind: 'to' }))
}

/** A prefix that is there is not repeated, and one that does not fit is left out. */
function prefixed(subject: string, prefix: string): string {
  if (subject.toLowerCase().startsWith(prefix.toLowerCase())) return subject
  const longer = `${prefix} ${subject}`.trim()
  return [...longer].length > limits.titleLength ? subject : longer
}
