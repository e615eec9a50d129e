/** Connections of agents with different owners: asking for one, and answering a request by its id. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { listRecipients } from '../../store/agents/agents.ts'
import { countWithCode, listPendingTo, lockAgents, updateCode } from '../../store/contacts/connections.ts'
import { type ContactRow, insertContact, lockContacts, updateContact } from '../../store/contacts/contacts.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, contactChannel } from '../agents/agents.ts'
import { needOther, type Other } from '../contacts/links.ts'
import { blocksAll, declined } from '../contacts/refusals.ts'
import { endAfter, linkBetween, standingOf } from '../contacts/standing.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { publicIds } from '../hub/public-ids.ts'
import { addressFrom } from '../messages/addresses.ts'
import { refusalError } from '../messages/send.ts'
import { type Connection, freeCode } from './codes.ts'
import { answerRequest, confirmRequests, hasCode, needApprovable, settleBack } from './requests.ts'

interface Requested extends Connection {
  /** Undefined where the other had asked too, without a code: the two are connected. */
  readonly code: string | undefined
}

interface Pair {
  readonly sender: Agent
  readonly target: Agent
}

/** The requests between the two agents, one in each direction. */
interface Asked {
  readonly own: ContactRow | undefined
  readonly back: ContactRow | undefined
}

/**
 * Asks for contact that a code approves. No message is put into the other's inbox (post.connect.quiet). A request of the
 * caller that waits without a code is given one; where the other has asked without a code, both have asked, and that is
 * contact (post.connect.filed). Contact that exists, or waits for a code, is a conflict.
 */
export async function requestConnection(
  hub: Hub,
  acting: Acting,
  { to, message = '' }: { to: Other; message?: string | undefined },
): Promise<Requested> {
  const sender = await actAs(hub, acting)
  const target = await needOther(hub, acting, to, 'no_target')
  if (target.id === sender.id)
    throw new HubError('INVALID_ARGUMENT', `${sender.name} needs no connection with itself.`, {
      reason: 'oneself',
      hint: 'Name somebody else.',
    })
  const idOf = await publicIds(hub)
  const pair = { sender, target }
  const { contactId, code } = await commit(hub, acting.caller, async (tx, note) => {
    await lockAgents(tx, [sender.id, target.id])
    const asked = await lockAskable(hub, tx, pair)
    if (asked.back === undefined || standingOf(asked.back, hub.clock.now()) !== 'pending')
      return giveCode(hub, { tx, note, pair, asked, message })
    needApprovable(hub, acting.caller, { me: sender, other: target, asked: asked.back })
    return { contactId: await connectBoth(hub, { tx, note, pair, asked, back: asked.back }), code: undefined }
  })
  return { id: idOf('contact', contactId), other: await addressFrom(hub, sender, target), code }
}

interface Step {
  readonly tx: Tx
  readonly note: Note
  readonly pair: Pair
  readonly asked: Asked
}

async function giveCode(
  hub: Hub,
  { tx, note, pair: { sender, target }, asked: { own, back }, message }: Step & { message: string },
): Promise<{ contactId: number; code: string }> {
  const now = hub.clock.now()
  if ((await countWithCode(tx, sender.id, now)) >= limits.pendingContacts)
    throw new HubError('RATE_LIMITED', `${limits.pendingContacts} requests of ${sender.name} wait for their answers.`, {
      hint: 'Ask again once some of them are approved, or have expired.',
      retryAfter: Math.ceil(hub.rules.contacts.codeMs / 1000),
    })
  // To ask is to take one's own denial back.
  if (back?.status === 'denied') await updateContact(tx, back.id, { ...back, now, expiresAt: now })
  const codeEnd = endAfter(now, hub.rules.contacts.codeMs)
  // A request that waits already goes on to wait as long as it would have, with its reason.
  const waiting = own !== undefined && standingOf(own, now) === 'pending' ? own : undefined
  const change = {
    status: 'pending',
    origin: 'asked',
    reason: message || (waiting?.reason ?? ''),
    now,
    expiresAt: waiting?.expires_at === null ? undefined : Math.max(waiting?.expires_at ?? 0, codeEnd),
  } as const
  const { id } = own ?? (await insertContact(tx, { fromId: sender.id, toId: target.id, ...change }))
  if (own !== undefined) await updateContact(tx, id, change)
  const code = await freeCode(hub, tx)
  await updateCode(tx, id, { code, expiresAt: codeEnd })
  const wakes = [contactChannel(target.id)]
  note({ kind: 'contact.requested', projectId: target.projectId, agentId: target.id, contactId: id, wakes })
  return { contactId: id, code }
}

/** Approves the other's request, for good. */
async function connectBoth(
  hub: Hub,
  { tx, note, pair: { sender, target }, asked: { own }, back }: Step & { back: ContactRow },
): Promise<number> {
  const now = hub.clock.now()
  const { id, reason } = back
  await updateContact(tx, id, { status: 'approved', origin: 'asked', reason, now, expiresAt: undefined })
  await settleBack(tx, own, now)
  const wakes = [contactChannel(target.id)]
  note({ kind: 'contact.approved', projectId: sender.projectId, agentId: sender.id, contactId: id, wakes })
  await confirmRequests(hub, { tx, note, me: sender, other: target })
  return id
}

/** The requests of the two, if the one may ask the other now. */
async function lockAskable(hub: Hub, tx: Tx, { sender, target }: Pair): Promise<Asked> {
  const now = hub.clock.now()
  const [recipient] = await listRecipients(tx, [target.id])
  const policy = recipient?.contact_policy
  if (hub.rules.contacts.enforced && policy === 'block_all') throw refusalError(blocksAll(target))
  const { own, back } = await lockContacts(tx, sender.id, target.id)
  const link = linkBetween(sender, [own, back], { now, policy })
  if (link?.standing === 'approved')
    throw new HubError('CONTACT_EXISTS', `${sender.name} and ${target.name} are connected already.`, {
      hint: `Write to ${target.name}: nothing has to be approved.`,
    })
  if (link?.standing === 'denied') throw refusalError(declined(target, sender))
  if (back !== undefined && standingOf(back, now) === 'pending') {
    if (!hasCode(back, now)) return { own, back }
    throw new HubError('CONTACT_EXISTS', `${target.name} has asked ${sender.name} for a connection already.`, {
      hint: 'Approve that request with its verification code.',
    })
  }
  if (own !== undefined && standingOf(own, now) === 'pending' && hasCode(own, now))
    throw new HubError(
      'CONTACT_EXISTS',
      `A request of ${sender.name} to ${target.name} waits for its answer already.`,
      { hint: 'Wait until it is approved, or until its code has expired.' },
    )
  return { own, back }
}

interface ConnectionAnswer {
  /** The id of the connection that was asked for. */
  readonly id: string
  readonly accept: boolean
}

/** Answers a request by its id, for good: one that has no code can be answered in no other way at doors that know codes only. */
export async function answerConnection(
  hub: Hub,
  acting: Acting,
  { id, accept }: ConnectionAnswer,
): Promise<Connection> {
  const me = await actAs(hub, acting)
  const idOf = await publicIds(hub)
  // Only the requests that the inbox lists: a public id does not tell its row, and a crowd that asks costs nobody time.
  const rows = await listPendingTo(reader(hub), { toId: me.id, now: hub.clock.now(), limit: limits.listed })
  const asked = rows.find((row) => idOf('contact', row.id) === id)
  if (asked === undefined)
    throw new HubError('CONTACT_NOT_FOUND', `No connection request with this id waits for an answer of ${me.name}.`, {
      hint: 'The inbox lists the requests that wait, each with its connection_id.',
    })
  const other = { id: asked.from_id, projectId: asked.from_project, name: asked.from_name }
  const ttlMs = Number.POSITIVE_INFINITY
  await answerRequest(hub, acting.caller, { me, other, from: { name: other.name }, accept, ttlMs })
  return { id, other: await addressFrom(hub, me, other) }
}
