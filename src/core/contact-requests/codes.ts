/** Verification codes: made for a request, and named by whoever approves it. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { findOwned } from '../../store/agents/agents.ts'
import { type CodeRow, findByCode, lockCode, updateCode } from '../../store/contacts/connections.ts'
import { lockContacts, updateContact } from '../../store/contacts/contacts.ts'
import { type Guessed, guess } from '../access/guessing.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, contactChannel } from '../agents/agents.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { publicIds } from '../hub/public-ids.ts'
import { addressFrom } from '../messages/addresses.ts'
import { confirmRequests, settleBack } from './requests.ts'

export interface Connection {
  readonly id: string
  /** The other agent, as the caller may address it. */
  readonly other: string
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const codePattern = /^[A-Z]{2}-\d{3}$/
const attempts = 100

/** There are 676,000 of them. One that has expired, or has done its work, can be given again. */
export async function freeCode(hub: Hub, tx: Tx): Promise<string> {
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

/** Approves the request that has this code, for good. Wrong codes are counted: the right one cannot be found by trying. */
export async function approveConnection(hub: Hub, acting: Acting, given: string): Promise<Connection> {
  const me = await actAs(hub, acting)
  const code = given.trim().toUpperCase()
  const idOf = await publicIds(hub)
  const guessing = {
    guesser: `code:${me.id}`,
    most: limits.wrongCodes,
    tooMany: {
      message: `${me.name} has named ${limits.wrongCodes} wrong codes within a minute.`,
      hint: 'Ask the person who has the code, and try again later.',
    },
  }
  const { contactId, other } = await guess(hub, acting.caller, guessing, (tx, note) =>
    approveByCode(hub, { tx, note, me, code }),
  )
  return { id: idOf('contact', contactId), other: await addressFrom(hub, me, other) }
}

interface ByCode {
  readonly tx: Tx
  readonly note: Note
  readonly me: Agent
  readonly code: string
}

async function approveByCode(
  hub: Hub,
  { tx, note, me, code }: ByCode,
): Promise<Guessed<{ contactId: number; other: Agent }>> {
  const now = hub.clock.now()
  const found = codePattern.test(code) ? await findByCode(tx, code) : undefined
  if (found?.status === 'pending' && found.to_id !== me.id)
    return { wrong: new HubError('FORBIDDEN', 'The connection request with this code is for another agent.') }
  const { own: back, back: asked } = found === undefined ? {} : await lockContacts(tx, me.id, found.from_id)
  // Answered, or given another code, before it was locked.
  if (asked === undefined || asked.status !== 'pending' || asked.code !== code)
    return {
      wrong: new HubError('CONTACT_NOT_FOUND', 'No connection request has this code.', {
        hint: 'Codes look like XC-992, and are valid for one approval.',
      }),
    }
  if (!isOpen(asked, now))
    throw new HubError('CONTACT_CODE_EXPIRED', 'This code has expired.', {
      hint: 'Let the other agent ask again: that gives a new code.',
    })
  const { id, reason } = asked
  await updateContact(tx, id, { status: 'approved', origin: 'asked', reason, now, expiresAt: undefined })
  await settleBack(tx, back, now)
  const row = await findOwned(tx, asked.from_id)
  const other = { id: asked.from_id, projectId: row?.project_id ?? 0, name: row?.name ?? '' }
  const wakes = [contactChannel(other.id)]
  note({ kind: 'contact.approved', projectId: me.projectId, agentId: me.id, contactId: id, wakes })
  await confirmRequests(hub, { tx, note, me, other })
  return { right: { contactId: id, other } }
}
