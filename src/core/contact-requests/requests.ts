/** Requests for contact, and the answers to them. */
import { HubError } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import { listRecipients, updateUnread } from '../../store/agents/agents.ts'
import {
  type ContactRow,
  findNamedContact,
  insertContact,
  listNamesakes,
  lockContacts,
  updateContact,
} from '../../store/contacts/contacts.ts'
import { requestKind } from '../../store/contacts/grounds.ts'
import { listUnconfirmed, updateReceipt } from '../../store/messages/deliveries.ts'
import type { Caller } from '../access/callers.ts'
import { isItself } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, contactChannel } from '../agents/agents.ts'
import { introMessage } from '../contacts/intro.ts'
import { isNews } from '../contacts/judging.ts'
import { type Contact, needOther, type Other, toContact } from '../contacts/links.ts'
import { blocksAll, declined } from '../contacts/refusals.ts'
import { endAfter, linkBetween, standingOf, usualTtlMs } from '../contacts/standing.ts'
import { commit, type Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { append, refusalError } from '../messages/send.ts'
import { slugOfProject } from '../projects/projects.ts'

interface ContactRequest {
  readonly to: Other
  readonly reason?: string | undefined
  /** How long the request stands. */
  readonly ttlMs?: number | undefined
}

/**
 * Makes or renews a request and puts a message about it into the other's inbox, past the policy: a stranger has no
 * other way in. It never passes `block_all`, nor a denial. Approved contact stays as it is.
 */
export async function requestContact(
  hub: Hub,
  acting: Acting,
  { to, reason: given, ttlMs = usualTtlMs }: ContactRequest,
): Promise<Contact> {
  const sender = await actAs(hub, acting)
  const target = await needOther(hub, acting, to, 'no_target')
  if (target.id === sender.id)
    throw new HubError('INVALID_ARGUMENT', `${sender.name} needs no contact with itself.`, {
      reason: 'oneself',
      hint: 'Name somebody else.',
    })
  const slug = await slugOfProject(hub, sender.projectId)
  const reason = given?.trim() || 'No reason was given.'
  const uid = hub.ids.uuid()
  return commit(hub, acting.caller, async (tx, note) => {
    const [recipient] = await listRecipients(tx, [target.id])
    if (hub.rules.contacts.enforced && recipient?.contact_policy === 'block_all') throw refusalError(blocksAll(target))
    const now = hub.clock.now()
    const { own, back } = await lockContacts(tx, sender.id, target.id)
    const link = linkBetween(sender, [own, back], { now, policy: recipient?.contact_policy })
    if (link?.standing === 'denied') throw refusalError(declined(target, sender))
    if (link?.standing === 'approved' && isAsked(link.row))
      return toContact(await findNamedContact(tx, link.row.id), now)
    // Automatic contact stays approved meanwhile; this request asks to make it last.
    const change =
      link?.standing === 'approved' && link.row === own
        ? ({ status: 'approved', origin: 'automatic', reason, now, expiresAt: own.expires_at ?? undefined } as const)
        : ({ status: 'pending', origin: 'asked', reason, now, expiresAt: endAfter(now, ttlMs) } as const)

    // To ask is to take one's own denial back.
    if (back?.status === 'denied') await updateContact(tx, back.id, { ...back, now, expiresAt: now })
    const { id } = own ?? (await insertContact(tx, { fromId: sender.id, toId: target.id, ...change }))
    if (own !== undefined) await updateContact(tx, id, change)
    const wakes = [contactChannel(target.id)]
    note({ kind: 'contact.requested', projectId: target.projectId, agentId: target.id, contactId: id, wakes })
    if (isNews(own, now)) {
      const recipients = [{ agent: target, kind: 'to' as const }]
      const draft = introMessage({ sender, slug, target, reason })
      const sent = await append(hub, { tx, note, uid, sender, recipients, draft, request: true })
      // A full inbox: the request is not filed either.
      if (!('messageId' in sent)) for (const refusal of sent.blocked) throw refusalError(refusal)
    }
    return toContact(await findNamedContact(tx, id), now)
  })
}

interface ContactAnswer {
  readonly from: Other
  readonly accept: boolean
  /** How long the answer holds: a week for an approval, for good for a denial, if left out. Infinity is for good. */
  readonly ttlMs?: number | undefined
}

/**
 * Answers a request; a second answer replaces the first. Existing contact can be denied by either side. An expired
 * request or automatic contact cannot be made to last this way: the other never agreed to that.
 */
export async function respondContact(
  hub: Hub,
  acting: Acting,
  { from, accept, ttlMs }: ContactAnswer,
): Promise<Contact> {
  const me = await actAs(hub, acting)
  const other = await needOther(hub, acting, from, 'no_asker')
  return answerRequest(hub, acting.caller, { me, other, from, accept, ttlMs })
}

/** The same once both are known, whoever answers: a person decides in the place of an agent (web.contacts.decided). */
export function answerRequest(
  hub: Hub,
  caller: Caller,
  { me, other, from, accept, ttlMs }: ContactAnswer & { readonly me: Agent; readonly other: Agent },
): Promise<Contact> {
  return commit(hub, caller, async (tx, note) => {
    const now = hub.clock.now()
    const { own: back, back: asked } = await lockContacts(tx, me.id, other.id)
    const toldNow = async (id: number) => toContact(await findNamedContact(tx, id), now)
    const answerable = accept ? asked && standingOf(asked, now) !== 'expired' : (asked ?? back)
    if (!answerable) {
      // The caller's own request was approved: there is nothing left to answer.
      if (back !== undefined && standingOf(back, now) === 'approved') return toldNow(back.id)
      throw await notAsked(tx, { me, other, from })
    }
    if (accept && asked !== undefined && asked.status !== 'pending' && !isAsked(asked)) {
      // The other never asked: a denial is taken back, and no more.
      if (asked.status === 'denied') await updateContact(tx, asked.id, { ...asked, now, expiresAt: now })
      return toldNow(asked.id)
    }
    if (accept && asked !== undefined) needApprovable(hub, caller, { me, other, asked })
    const lasting = ttlMs ?? (accept ? usualTtlMs : Number.POSITIVE_INFINITY)
    const change = {
      status: accept ? 'approved' : 'denied',
      ...(asked?.origin === 'automatic' && (asked.status === 'pending' || isAsked(asked))
        ? // Once it is answered, a request that a send filed is as good as any other.
          { origin: 'asked' as const, reason: asked.reason || 'Asked by sending a message.' }
        : { origin: asked?.origin ?? ('automatic' as const), reason: asked?.reason ?? '' }),
      now,
      expiresAt: lasting === Number.POSITIVE_INFINITY ? undefined : endAfter(now, lasting),
    } as const
    const { id } = asked ?? (await insertContact(tx, { fromId: other.id, toId: me.id, ...change }))
    if (asked !== undefined) await updateContact(tx, id, change)
    if (accept) await settleBack(tx, back, now)
    const kind = accept ? 'contact.approved' : 'contact.denied'
    note({ kind, projectId: me.projectId, agentId: me.id, contactId: id, wakes: [contactChannel(other.id)] })
    await confirmRequests(hub, { tx, note, me, other })
    return toldNow(id)
  })
}

/** A request that was denied waits for its answer again. */
export function reopenRequest(
  hub: Hub,
  caller: Caller,
  { me, other }: { readonly me: Agent; readonly other: Agent },
): Promise<Contact> {
  return commit(hub, caller, async (tx, note) => {
    const now = hub.clock.now()
    const { back: asked } = await lockContacts(tx, me.id, other.id)
    if (asked === undefined || asked.status !== 'denied')
      throw new HubError('NOT_FOUND', `No request of ${other.name} to ${me.name} is denied.`)
    await updateContact(tx, asked.id, { ...asked, status: 'pending', now, expiresAt: endAfter(now, usualTtlMs) })
    const wakes = [contactChannel(me.id)]
    note({ kind: 'contact.requested', projectId: me.projectId, agentId: me.id, contactId: asked.id, wakes })
    return toContact(await findNamedContact(tx, asked.id), now)
  })
}

/** Once two are in contact, a request of the other direction has nothing left to ask. */
export async function settleBack(tx: Tx, back: ContactRow | undefined, now: number): Promise<void> {
  if (back?.status === 'pending') await updateContact(tx, back.id, { ...back, now, expiresAt: now })
}

/** Somebody asked for it: automatic contact that is to last has a reason, and becomes contact that was asked for once it is answered. */
const isAsked = ({ origin, reason }: ContactRow): boolean => origin === 'asked' || reason !== ''

/** A code that has expired is none. */
export const hasCode = ({ code, code_expires_at }: ContactRow, now: number): boolean =>
  code !== null && (code_expires_at ?? 0) > now

/**
 * Where codes are hidden from whoever is asked, only the code approves a request that has one, and only the agent itself a
 * request that has none (post.code.hidden): a program beside it could else approve in its place, past every person.
 */
export function needApprovable(
  hub: Hub,
  caller: Caller,
  { me, other, asked }: { me: Agent; other: Agent; asked: ContactRow },
): void {
  if (hub.rules.contacts.codesShown || asked.status === 'approved') return
  if (hasCode(asked, hub.clock.now()))
    throw new HubError('FORBIDDEN', `The request of ${other.name} is approved by its verification code only.`, {
      reason: 'code_needed',
      hint: `Ask the person behind ${other.name} for the code, and approve with it: POST /connections/approve.`,
    })
  if (!isItself(caller, me))
    throw new HubError('FORBIDDEN', `Only ${me.name} itself approves the request of ${other.name}.`, {
      reason: 'keyed',
      hint: `Call with the key of ${me.name}. The operator gives it one with \`parley keys create\`.`,
    })
}

/** An agent that has answered owes no acknowledgement of the message about the request (mail.contact.confirmed). */
export async function confirmRequests(
  hub: Hub,
  { tx, note, me, other }: { tx: Tx; note: Note; me: Agent; other: Agent },
): Promise<void> {
  const now = hub.clock.now()
  const from = { recipientId: me.id, senderId: other.id, kind: requestKind }
  for (const { id, message_id: messageId, read_at } of await listUnconfirmed(tx, from)) {
    updateReceipt(tx, { id, readAt: read_at ?? now, ackedAt: now })
    if (read_at === null) updateUnread(tx, me.id, -1)
    note({ kind: 'mail.acknowledged', projectId: me.projectId, agentId: me.id, messageId })
  }
}

async function notAsked(tx: Tx, { me, other, from }: { me: Agent; other: Agent; from: Other }): Promise<HubError> {
  const askers = await listNamesakes(tx, { toId: me.id, nameKey: nameKey(other.name), notId: other.id })
  const where = askers.map(({ name, slug }) => `${name} of the project ${slug}`)
  const message = `No contact request of ${other.name} waits for an answer of ${me.name}.`
  if (where.length > 0 && from.project === undefined)
    return new HubError('CONTACT_NOT_FOUND', message, {
      reason: 'asked_elsewhere',
      hint: `The request came from ${where.join(' and ')}: name its project as well.`,
    })
  return new HubError('CONTACT_NOT_FOUND', message, {
    hint: 'Look for the request among your contacts, and name its project if that is not yours. To ask yourself, request contact.',
  })
}
