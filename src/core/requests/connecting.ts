/** Contact by verification code: one agent asks, the code travels between people, the other approves with it. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { findOwned, listRecipients } from '../../store/agents.ts'
import {
  type CodeRow,
  countWithCode,
  listPendingTo,
  lockAgents,
  lockCode,
  updateCode,
} from '../../store/connections.ts'
import { insertContact, lockContacts, updateContact } from '../../store/contacts.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, contactChannel } from '../agents/agents.ts'
import { needOther, type Other } from '../contacts/links.ts'
import { blocksAll, declined } from '../contacts/refusals.ts'
import { endAfter, linkBetween, standingOf } from '../contacts/standing.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { publicIds } from '../hub/public-ids.ts'
import { addressFrom } from '../messages/addresses.ts'
import { refusalError } from '../messages/send.ts'
import { confirmRequests } from './requests.ts'

export interface Connection {
  readonly id: string
  /** The other agent, as the caller may address it. */
  readonly other: string
}

/**
 * Asks for contact that the code approves. No message is put into the other's inbox (post.connect.quiet). Contact that
 * exists, or was asked for by either side, is a conflict.
 */
export async function requestConnection(
  hub: Hub,
  acting: Acting,
  { to, message = '' }: { to: Other; message?: string | undefined },
): Promise<Connection & { code: string }> {
  const sender = await actAs(hub, acting)
  const target = await needOther(hub, acting, to, 'no_target')
  if (target.id === sender.id)
    throw new HubError('INVALID_ARGUMENT', `${sender.name} needs no connection with itself.`, {
      reason: 'oneself',
      hint: 'Name somebody else.',
    })
  const idOf = await publicIds(hub)
  const { contactId, code } = await commit(hub, acting.caller, async (tx, note) => {
    await lockAgents(tx, [sender.id, target.id])
    const now = hub.clock.now()
    const { own, back } = await lockAskable(hub, tx, { sender, target })
    // To ask is to take one's own denial back.
    if (back?.status === 'denied') await updateContact(tx, back.id, { ...back, now, expiresAt: now })
    const expiresAt = endAfter(now, hub.rules.contacts.codeMs)
    const change = { status: 'pending', origin: 'asked', reason: message, now, expiresAt } as const
    const { id } = own ?? (await insertContact(tx, { fromId: sender.id, toId: target.id, ...change }))
    if (own !== undefined) await updateContact(tx, id, change)
    const code = await freeCode(hub, tx)
    await updateCode(tx, id, { code, expiresAt })
    const wakes = [contactChannel(target.id)]
    note({ kind: 'contact.requested', projectId: target.projectId, agentId: target.id, contactId: id, wakes })
    return { contactId: id, code }
  })
  return { id: idOf('contact', contactId), other: await addressFrom(hub, sender, target), code }
}

/** The contacts of the two, if the one may ask the other now. */
async function lockAskable(hub: Hub, tx: Tx, { sender, target }: { sender: Agent; target: Agent }) {
  const now = hub.clock.now()
  const [recipient] = await listRecipients(tx, [target.id])
  if (hub.rules.contacts.enforced && recipient?.contact_policy === 'block_all') throw refusalError(blocksAll(target))
  const { own, back } = await lockContacts(tx, sender.id, target.id)
  const link = linkBetween(sender, [own, back], now)
  if (link?.standing === 'approved')
    throw new HubError('CONTACT_EXISTS', `${sender.name} and ${target.name} are connected already.`, {
      hint: `Write to ${target.name}: nothing has to be approved.`,
    })
  if (link?.standing === 'denied') throw refusalError(declined(target, sender))
  if (own !== undefined && standingOf(own, now) === 'pending')
    throw new HubError(
      'CONTACT_EXISTS',
      `A request of ${sender.name} to ${target.name} waits for its answer already.`,
      {
        hint: 'Wait until it is approved, or until its code has expired.',
      },
    )
  if (back !== undefined && standingOf(back, now) === 'pending')
    throw new HubError('CONTACT_EXISTS', `${target.name} has asked ${sender.name} for a connection already.`, {
      hint: 'Approve that request with its verification code.',
    })
  if ((await countWithCode(tx, sender.id, now)) >= limits.pendingContacts)
    throw new HubError('RATE_LIMITED', `${limits.pendingContacts} requests of ${sender.name} wait for their answers.`, {
      hint: 'Ask again once some of them are approved, or have expired.',
      retryAfter: Math.ceil(hub.rules.contacts.codeMs / 1000),
    })
  return { own, back }
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const codePattern = /^[A-Z]{2}-\d{3}$/
const attempts = 100

/** There are 676,000 of them. One that has expired, or has done its work, can be given again. */
async function freeCode(hub: Hub, tx: Tx): Promise<string> {
  const letter = () => letters[hub.ids.below(letters.length)]
  for (let attempt = 0; attempt < attempts; attempt++) {
    const code = `${letter()}${letter()}-${String(hub.ids.below(1000)).padStart(3, '0')}`
    const holder = await lockCode(tx, code)
    if (holder === undefined) return code
    if (isOpen(holder, hub.clock.now())) continue
    await updateCode(tx, holder.id, undefined)
    return code
  }
  throw new HubError('RATE_LIMITED', 'Too many connection requests wait for their answers.', {
    hint: 'Ask again in some minutes.',
    retryAfter: 60,
  })
}

const isOpen = ({ status, expires_at, code_expires_at }: CodeRow, now: number): boolean =>
  status === 'pending' && (code_expires_at ?? 0) > now && (expires_at === null || expires_at > now)

/** Approves the request that has this code, for good. */
export async function approveConnection(hub: Hub, acting: Acting, given: string): Promise<Connection> {
  const me = await actAs(hub, acting)
  const code = given.trim().toUpperCase()
  needGuesses(hub, me)
  const idOf = await publicIds(hub)
  const { contactId, other } = await commit(hub, acting.caller, async (tx, note) => {
    const now = hub.clock.now()
    const asked = codePattern.test(code) ? await lockCode(tx, code) : undefined
    if (asked === undefined || asked.status !== 'pending')
      throw new HubError('CONTACT_NOT_FOUND', 'No connection request has this code.', {
        hint: 'Codes look like XC-992, and are good for one approval.',
      })
    if (asked.to_id !== me.id)
      throw new HubError('FORBIDDEN', 'The connection request with this code is for another agent.')
    if (!isOpen(asked, now))
      throw new HubError('CONTACT_CODE_EXPIRED', 'This code has expired.', {
        hint: 'Let the other agent ask again: that gives a new code.',
      })
    const { id, reason } = asked
    await updateContact(tx, id, { status: 'approved', origin: 'asked', reason, now, expiresAt: undefined })
    const row = await findOwned(tx, asked.from_id)
    const other = { id: asked.from_id, projectId: row?.project_id ?? 0, name: row?.name ?? '' }
    const wakes = [contactChannel(other.id)]
    note({ kind: 'contact.approved', projectId: me.projectId, agentId: me.id, contactId: id, wakes })
    await confirmRequests(hub, { tx, note, me, other })
    return { contactId: id, other }
  }).catch((error: unknown) => {
    const wrong = error instanceof HubError && (error.code === 'CONTACT_NOT_FOUND' || error.code === 'FORBIDDEN')
    if (wrong) noteGuess(hub, me)
    throw error
  })
  return { id: idOf('contact', contactId), other: await addressFrom(hub, me, other) }
}

/** When each agent named wrong codes within the last minute: the code that it should not know cannot be found by trying. */
const guesses = memory(() => new Map<number, number[]>())
const guessMs = 60_000

const recentGuesses = (hub: Hub, { id }: Agent): number[] =>
  (guesses(hub).get(id) ?? []).filter((at) => hub.clock.now() - at < guessMs)

function noteGuess(hub: Hub, me: Agent): void {
  remember(guesses(hub), me.id, [...recentGuesses(hub, me), hub.clock.now()])
}

function needGuesses(hub: Hub, me: Agent): void {
  const recent = recentGuesses(hub, me)
  if (recent.length < limits.wrongCodes) return
  const left = guessMs - (hub.clock.now() - (recent[0] ?? 0))
  throw new HubError('RATE_LIMITED', `${me.name} has named ${limits.wrongCodes} wrong codes within a minute.`, {
    hint: 'Ask the person who has the code, and try again later.',
    retryAfter: Math.max(1, Math.ceil(left / 1000)),
  })
}

/** A request that waits for the agent's answer. */
export interface PendingConnection {
  readonly id: string
  readonly from: string
  readonly message: string | undefined
  /** Absent where codes are not shown, or the request came without one. */
  readonly code: string | undefined
  readonly createdAt: number
}

export async function listPendingConnections(hub: Hub, acting: Acting): Promise<PendingConnection[]> {
  const agent = await actAs(hub, acting)
  const idOf = await publicIds(hub)
  const rows = await listPendingTo(reader(hub), { toId: agent.id, now: hub.clock.now(), limit: limits.listed })
  const pending: PendingConnection[] = []
  for (const { id, from_name: name, from_project: projectId, reason, code, updated_at } of rows)
    pending.push({
      id: idOf('contact', id),
      from: await addressFrom(hub, agent, { projectId, name }),
      message: reason === '' ? undefined : reason,
      code: (hub.rules.contacts.codesShown && code) || undefined,
      createdAt: updated_at,
    })
  return pending
}
