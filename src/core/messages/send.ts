/** Sending: a message is appended to one thread and delivered to some agents. */

import { HubError } from '../../base/errors.ts'
import { isReserved } from '../../base/names.ts'
import { inSpan, isTraced, ofAgent } from '../../base/tracing.ts'
import type { Tx } from '../../db/port.ts'
import type { Terms } from '../../store/messages/admission.ts'
import { insertMail } from '../../store/messages/sending.ts'
import { insertAuthor } from '../../store/pages/people.ts'
import { findSlug } from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { type Acting, actIn, findActor } from '../agents/acting.ts'
import { type Agent, isNewcomer, mailChannel, type Newcomer } from '../agents/agents.ts'
import { findNear } from '../agents/near.ts'
import { introMessage, triedToWrite } from '../contacts/intro.ts'
import type { Refusal } from '../contacts/judging.ts'
import { commit, LostRace, type Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'
import { admit, type Blocked, findTerms } from './admission.ts'
import { needAnswered } from './answered.ts'
import type { Enclosed, Enclosing } from './attachments.ts'
import { enclosedOrFault, filesOf, storeFiles } from './attachments.ts'
import { sendBatched } from './batched-send.ts'
import { compose, receiptOf } from './composing.ts'
import { refuseCrossed } from './crossing.ts'
import { noteStored } from './filing.ts'
import { type Drive, driveOf, guardLoop, lookAgain } from './loops.ts'
import { type Conversation, expiryChannel, findPlacement, threadChannel } from './placing.ts'
import { type Delivery, type Sent, type Stored, storedReceipt } from './receipt.ts'
import { type Address, type Addressee, makeRecipients, mostGuessed, type Recipient, resolve } from './recipients.ts'
import { sendSurely } from './send-again.ts'
import { isShared, onlyFirst, share } from './sharing.ts'
import { type Staged, withStaged } from './staging.ts'

export type { Sent } from './receipt.ts'
export type { Address } from './recipients.ts'
export type Importance = 'low' | 'normal' | 'high' | 'urgent'

export interface Draft {
  readonly to: readonly Address[]
  readonly body: string
  readonly subject?: string | undefined
  readonly importance?: Importance | undefined
  readonly ackRequired?: boolean | undefined
  /** The name of the thread it belongs to; without one it begins a thread of its own. */
  readonly thread?: string | undefined
  /** The thread it joins, where the caller has found it; no name is looked up then. */
  readonly threadId?: number | undefined
  /** The message it answers: it joins its thread. */
  readonly replyTo?: number | undefined
  /** The message of its one recipient that it answers, by any id that a door shows; an error if there is none. */
  readonly answers?: string | undefined
  /** The sender's own name for the message: with it a retry stores nothing and the first content stands. */
  readonly clientId?: string | undefined
  /** The client id may be that of the message it answers: other words under it are then another message. */
  readonly mayAnswer?: boolean | undefined
  /** Files and images that go along; without it, at doors that know none, the body is left as it is. */
  readonly enclosing?: Enclosing | undefined
  /** Addresses of things elsewhere that go along. */
  readonly links?: readonly string[] | undefined
  /** Whether contact is made where a policy wants it first; the hub's rule, if left out. */
  readonly handshake?: boolean | undefined
  readonly conversation?: Conversation | undefined
  /** The last message of the thread that the sender has seen: with a newer one there, the send is refused (waking.crossing.refused). */
  readonly seenThrough?: number | undefined
  /** Sent by a program without a look of its agent. */
  readonly automatic?: boolean | undefined
  /** Unread for this long, it is taken out of the mailbox again. */
  readonly ttlMs?: number | undefined
  /** The person who writes as HumanOverseer. */
  readonly author?: string | undefined
}

/** A draft whose recipients are agents and whose attachments are read. */
export type ResolvedDraft = Omit<Draft, 'to' | 'enclosing'>

export async function send(hub: Hub, acting: Acting, draft: Draft): Promise<Sent> {
  const sender = await findActor(hub, acting)
  // At doors that know attachments one registers first.
  const enclosed = isNewcomer(sender) ? undefined : await enclosedOrFault(hub, acting, { ...draft, sender })
  const recipients = await resolve(hub, { acting, sender, addresses: draft.to })
  const { answers } = draft
  const replyTo = answers === undefined ? draft.replyTo : await needAnswered(hub, { sender, recipients }, answers)
  return dispatch(hub, acting.caller, { sender, recipients, draft: { ...draft, replyTo }, enclosed })
}

export interface Dispatch {
  readonly sender: Agent | Newcomer
  readonly recipients: readonly Addressee[]
  readonly draft: ResolvedDraft
  readonly enclosed?: Enclosed | HubError | undefined
}

interface Delivering {
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  readonly draft: ResolvedDraft
  readonly enclosed?: Enclosed | HubError | undefined
  /** A request for contact: its caller has asked the policy, and the message alone makes no contact. */
  readonly request?: boolean
}

/** One blocked recipient does not stop the others; if all are blocked, that is an error (mail.contact.partial). */
export const dispatch = (hub: Hub, caller: Caller, what: Dispatch): Promise<Sent> =>
  isTraced()
    ? inSpan('send', () => dispatchNow(hub, caller, what), isNewcomer(what.sender) ? {} : ofAgent(what.sender))
    : dispatchNow(hub, caller, what)

async function dispatchNow(hub: Hub, caller: Caller, what: Dispatch): Promise<Sent> {
  const uid = hub.ids.uuid()
  const { handshake: asks = hub.rules.contacts.handshake } = what.draft
  const drive = await driveOf(hub, what)
  const makes = [what.sender, ...what.recipients.map(({ agent }) => agent)].some(isNewcomer)
  const sendInTransaction = () =>
    withStaged(hub, caller, filesOf(what.enclosed), (staged) =>
      commit(hub, caller, async (tx, note) => {
        const sender = await actIn(hub, { tx, note, caller }, what.sender)
        const recipients = await makeRecipients(hub, { tx, note }, what.recipients)
        const outcome = await append(hub, { tx, note, uid, staged, ...what, sender, recipients, drive })
        if ('messageId' in outcome) return { sender, outcome }
        // Contact that judging made or asked for stays, with its agents, also where nothing is delivered.
        const settled = asks && outcome.blocked.some(({ code }) => code === 'CONTACT_REQUIRED')
        if (makes && !settled) throw refused(outcome.blocked)
        return { sender, outcome }
      }),
    )
  const { sender, outcome } = await sendSurely(hub, { uid, sender: what.sender }, () =>
    sendBatched(hub, { caller, uid, what, drive }, sendInTransaction),
  )
  if (drive !== undefined) lookAgain(hub)
  if ('messageId' in outcome) {
    if (!outcome.duplicate) noteStored(hub, { messages: 1, deliveries: outcome.deliveries.length })
    return { ...(await withProjects(hub, caller, sender, outcome)), replyTo: what.draft.replyTo }
  }
  throw refused(outcome.blocked)
}

function refused(all: readonly Blocked[]): HubError {
  const [first] = all
  if (first === undefined)
    return new HubError('INVALID_ARGUMENT', 'The message has no recipient.', { hint: 'Name at least one in "to".' })
  return refusalError({ ...first, message: all.map(({ message }) => message).join(' ') })
}

/** Slugs are known, but for the first time that a project is named. */
async function withProjects(hub: Hub, caller: Caller, sender: Agent, stored: Stored): Promise<Omit<Sent, 'replyTo'>> {
  const agents = [
    sender,
    ...stored.deliveries.map(({ agent }) => agent),
    ...stored.blocked.map(({ recipient }) => recipient.agent),
  ]
  const slugs = new Map<number, string>()
  for (const { projectId } of agents)
    if (!slugs.has(projectId)) slugs.set(projectId, await slugOfProject(hub, projectId))
  const slugOf = ({ projectId }: Agent) => slugs.get(projectId) ?? ''
  const deliveries: Delivery[] = []
  const guessed = new Set(stored.deliveries.filter(({ made, unseen }) => made || unseen).slice(0, mostGuessed))
  for (const one of stored.deliveries) {
    const near = guessed.has(one) && { near: await findNear(hub, caller, { ...sender, name: one.agent.name }) }
    deliveries.push({ ...one, project: slugOf(one.agent), ...near })
  }
  return {
    ...stored,
    senderId: sender.id,
    home: slugOf(sender),
    deliveries,
    blocked: stored.blocked.map((one) => ({ ...one, project: slugOf(one.recipient.agent) })),
  }
}

export const refusalError = ({ code, message, ...details }: Refusal): HubError => new HubError(code, message, details)

interface Appending extends Delivering {
  readonly tx: Tx
  readonly note: Note
  readonly uid: string
  readonly staged?: Staged
  /** Its standing with the loop guard. */
  readonly drive?: Drive
}

export async function append(
  hub: Hub,
  { tx, note, uid, sender, recipients, draft, enclosed, staged = new Map(), request = false, drive }: Appending,
): Promise<Stored | { blocked: readonly Blocked[] }> {
  const place = await findPlacement(tx, { sender, recipients, draft })
  if (place.before) return storedReceipt(tx, place.before.id)
  if (enclosed instanceof HubError) throw enclosed
  if (draft.seenThrough !== undefined && place.thread !== undefined)
    await refuseCrossed(tx, { agentId: sender.id, threadId: place.thread.id, after: draft.seenThrough })

  const admission = {
    tx,
    note,
    sender,
    recipients,
    threadId: place.thread?.id,
    threadKey: draft.thread,
    handshake: draft.handshake,
    // People who watch over all pass every policy: only the operator acts under their name.
    exempt: request || isReserved(sender.name),
  }
  // The rows of recipients stay locked until the commit: the messages of one inbox become visible in the order of their ids, and
  // reading on from the last known id misses nothing (mail.inbox.reads-on).
  const store = async (recipients: readonly Recipient[], terms: Terms) => {
    const composed = compose(hub, { uid, sender, recipients, terms, draft, enclosed, place, request })
    const [placed] = await insertMail(tx, [composed.mail])
    return placed && { composed, placed }
  }
  const terms = recipients.some(isShared) ? undefined : findTerms(hub, admission)
  const atOnce = terms && (await store(recipients, terms))
  const {
    passed: admitted,
    blocked,
    asked,
  } = atOnce ? { passed: recipients, blocked: [], asked: [] } : await admit(hub, admission)
  if (asked.length > 0) await introduce(hub, { tx, note, sender, asked })
  const passed = onlyFirst(admitted)
  if (passed.length === 0) return { blocked }

  const stored = atOnce ?? (await store(passed, { limit: hub.limits.mailboxDepth }))
  if (stored === undefined) throw new LostRace('A mailbox was filled meanwhile.')
  const { composed, placed } = stored
  const { threadId, messageId } = placed
  if (draft.author !== undefined) await insertAuthor(tx, messageId, draft.author)
  await share(hub, tx, { messageId, admitted, passed })
  if (enclosed !== undefined) await storeFiles(hub, { tx, enclosed, staged })
  note({
    kind: 'message.sent',
    projectId: sender.projectId,
    agentId: sender.id,
    threadId,
    messageId,
    wakes: [
      ...passed.map(({ agent }) => mailChannel(agent.id)),
      threadChannel(threadId),
      ...(draft.ttlMs === undefined ? [] : [expiryChannel]),
    ],
  })
  await guardLoop(hub, tx, note, { drive, sender, recipients: passed.map(({ agent }) => agent), ...placed })
  return receiptOf(composed, placed, blocked)
}

/** Tells those whom the message asked for contact about it. Where there is no room, the request stands without a message. */
async function introduce(
  hub: Hub,
  { tx, note, sender, asked }: Pick<Appending, 'tx' | 'note' | 'sender'> & { asked: readonly Agent[] },
): Promise<void> {
  const slug = await findSlug(tx, sender.projectId)
  for (const target of asked) {
    const recipients = [{ agent: target, kind: 'to' as const }]
    const draft = introMessage({ sender, slug, target, reason: triedToWrite })
    await append(hub, { tx, note, uid: hub.ids.uuid(), sender, recipients, draft, request: true })
  }
}
