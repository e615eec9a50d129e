/** Conversations of two agents: a message goes into their thread about a subject, or into one that is named. */
import { HubError } from '../../base/errors.ts'
import { type About, findConversation, findMailThreadOf, listBegun } from '../../store/mail/conversations.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import type { Conversation, Joined } from './placing.ts'
import { type Address, findRecipient, refuseBroadcast } from './recipients.ts'
import { dispatch } from './send.ts'

interface Talk {
  readonly to: Address
  readonly body: string
  /** Needed where no thread is named. */
  readonly subject?: string | undefined
  /** The uid of the thread. */
  readonly thread?: string | undefined
  readonly automatic?: boolean | undefined
  readonly clientId?: string | undefined
  readonly ttlMs?: number | undefined
}

export interface Said {
  readonly uid: string
  readonly threadUid: string
  readonly subject: string
  readonly createdAt: number
}

/** Nobody is made by being written to, and a refused message asks nobody for contact (post.send.quiet). */
export async function converse(hub: Hub, acting: Acting, talk: Talk): Promise<Said> {
  const sender = await actAs(hub, acting)
  await refuseBroadcast(hub, { acting, sender, addresses: [talk.to] })
  const other = await findRecipient(hub, { acting, sender }, talk.to)
  if (other === undefined)
    throw new HubError('AGENT_NOT_FOUND', `Nothing was sent: nobody is called ${JSON.stringify(talk.to.name)}.`, {
      reason: 'no_recipient',
      hint: 'Send to agents that exist.',
    })
  if (other.id === sender.id)
    throw new HubError('INVALID_ARGUMENT', `${sender.name} cannot hold a conversation with itself.`, {
      reason: 'oneself',
      hint: 'Name somebody else in "to".',
    })
  const { subject, conversation } =
    talk.thread === undefined
      ? await aboutSubject(hub, sender, other, talk.subject)
      : await inThread(hub, { sender, other, thread: talk.thread, subject: talk.subject })
  const { body, automatic, clientId, ttlMs } = talk
  const draft = { body, subject, automatic, clientId, conversation, handshake: false, ttlMs }
  const sent = await dispatch(hub, acting.caller, { sender, recipients: [{ agent: other, kind: 'to' }], draft })
  return { uid: sent.uid, threadUid: sent.threadUid, subject: sent.subject ?? subject, createdAt: sent.createdAt }
}

interface Found {
  readonly subject: string
  readonly conversation: Conversation
}

async function inThread(
  hub: Hub,
  { sender, other, thread, subject }: { sender: Agent; other: Agent; thread: string; subject: string | undefined },
): Promise<Found> {
  const found = await findMailThreadOf(reader(hub), { uid: thread, agentId: sender.id, otherId: other.id })
  if (found === undefined)
    throw new HubError('THREAD_NOT_FOUND', `There is no conversation ${thread}.`, {
      hint: 'Leave it out and name a subject: Parley finds or begins the conversation about it.',
    })
  if (found.mine !== 1 || found.others !== 1)
    throw new HubError('FORBIDDEN', `${sender.name} and ${other.name} do not both take part in this conversation.`, {
      hint: 'Leave it out and name a subject: Parley finds or begins the conversation about it.',
    })
  // A conversation has one subject, whatever a message into it is said to be about (post.send.session).
  const firstLine = found.subject.trim().split('\n', 1)[0] ?? ''
  return { subject: firstLine || (subject ?? ''), conversation: { threadId: found.id } }
}

/** Threads by their pair and subject, as they were found committed. An entry stays for ever, and so does its thread. */
const filed = memory(() => new Map<string, Joined>())

/** Subjects match without case. The thread may have been begun at another door: then it is found among the newest mail. */
async function aboutSubject(hub: Hub, sender: Agent, other: Agent, subject: string | undefined): Promise<Found> {
  if (subject === undefined)
    throw new HubError('INVALID_ARGUMENT', 'A message needs a subject where no conversation is named.')
  const key = subjectKey(subject)
  const pair = { senderId: sender.id, otherId: other.id }
  const known = `${Math.min(sender.id, other.id)} ${Math.max(sender.id, other.id)} ${key}`
  const thread = filed(hub).get(known) ?? (await findFiled(hub, { ...pair, key }, known))
  if (thread !== undefined) return { subject, conversation: { thread } }
  const begun = (await listBegun(reader(hub), pair)).find(
    (one) => one.subject !== null && subjectKey(one.subject) === key,
  )
  return { subject, conversation: { about: { otherId: other.id, key }, threadId: begun?.thread_id } }
}

async function findFiled(hub: Hub, about: About, known: string): Promise<Joined | undefined> {
  const thread = await findConversation(reader(hub), about)
  return thread && remember(filed(hub), known, { ...thread, filed: true })
}

const subjectKey = (subject: string): string => subject.normalize('NFKC').toLowerCase().trim()
