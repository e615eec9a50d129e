/** Sends in batches: a message between agents that exist is a unit of one statement, unless it brings files or much text. */
import { isReserved } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import { insertMailBatch, type NewMail, type Placed } from '../../store/messages/sending.ts'
import type { Caller } from '../access/callers.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { isBatching, runBatched, runInTurn, type Unit } from '../hub/batching.ts'
import type { Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findTerms } from './admission.ts'
import { compose, receiptOf } from './composing.ts'
import type { Drive } from './loops.ts'
import { findPlacement, threadChannel, threadChannels } from './placing.ts'
import { type Stored, storedReceipt } from './receipt.ts'
import type { Addressee, Recipient } from './recipients.ts'
import type { Dispatch } from './send.ts'
import { isShared } from './sharing.ts'

/** With more recipients, or longer texts, a message goes alone: those of its batch would wait for it. */
const mostRecipients = 64
const mostCharacters = 8192

interface Sending {
  readonly caller: Caller
  readonly uid: string
  readonly what: Dispatch
  readonly drive: Drive
}

interface Outcome {
  readonly sender: Agent
  readonly outcome: Stored
}

/**
 * The place of the message is looked up before its batch. If another takes it meanwhile (a name, a client id), a unique index
 * fails the batch, and each of its messages is sent in a transaction of its own. So is one that is not let through at once.
 */
export async function sendBatched<Sent>(
  hub: Hub,
  { caller, uid, what, drive }: Sending,
  sendInTransaction: () => Promise<Sent>,
): Promise<Sent | Outcome> {
  const { sender, recipients, draft, enclosed } = what
  if (!isBatching(hub) || caller.readOnly || isNewcomer(sender)) return sendInTransaction()
  if (recipients.length > mostRecipients || !recipients.every(isKnown)) return sendInTransaction()
  const wakes = recipients.map(({ agent }) => mailChannel(agent.id))
  const turns = wakes.map((row) => `alone:${row}`)
  const alone = () => runInTurn(hub, turns, sendInTransaction)
  if (enclosed instanceof Error || (enclosed?.files.length ?? 0) > 0) return alone()
  const terms = findTerms(hub, { sender, recipients, exempt: isReserved(sender.name) })
  const usual =
    draft.seenThrough === undefined &&
    draft.ttlMs === undefined &&
    draft.author === undefined &&
    !recipients.some(isShared) &&
    !drive
  if (terms === undefined || !usual) return alone()
  const place = await findPlacement(reader(hub), { sender, recipients, draft })
  if (place.before) return { sender, outcome: await storedReceipt(reader(hub), place.before.id) }
  const composed = compose(hub, { uid, sender, recipients, terms, draft, enclosed, place })
  const { mail } = composed
  if (lengthOf(mail) > mostCharacters) return alone()
  const unit = {
    ...mail,
    feed: { actor: caller.key, wakes: `${wakes.join(' ')} ${threadChannels}` },
    wakes,
    rows: mail.threadId === undefined ? wakes : [...wakes, threadChannel(mail.threadId)],
    ownRows: namesOf(mail),
  }
  const placed = await runBatched(hub, storeBatch, unit, async () => ({ sent: await sendInTransaction() }))
  if (placed === undefined) return alone()
  if ('sent' in placed) return placed.sent
  return { sender, outcome: receiptOf(composed, placed, []) }
}

const isKnown = (addressee: Addressee): addressee is Recipient => !isNewcomer(addressee.agent)

const lengthOf = ({ message, images = [] }: NewMail): number =>
  images.reduce((sum, { data_uri }) => sum + data_uri.length, message.body.length + (message.attachments?.length ?? 0))

/** Of two with the same name in one batch, the second would fail it. */
function namesOf({ message: { senderId }, projectId, threadId, key, called, about }: NewMail): string[] {
  const names: string[] = []
  if (called !== undefined) names.push(`id:${senderId}:${called}`)
  if (key !== undefined && threadId === undefined) names.push(`key:${projectId}:${key}`)
  if (about !== undefined) names.push(`about:${about.senderId + about.otherId}:${about.key}`)
  return names
}

interface BatchedMail extends NewMail, Unit {
  readonly wakes: readonly string[]
}

/** Undefined for one that is not let through at once. */
async function storeBatch(tx: Tx, note: Note, all: readonly BatchedMail[]): Promise<(Placed | undefined)[]> {
  const places = await insertMailBatch(tx, all)
  for (const [n, { message, projectId, wakes }] of all.entries()) {
    const placed = places[n]
    if (placed === undefined) continue
    const { threadId, messageId } = placed
    const change = { kind: 'message.sent', projectId, agentId: message.senderId, threadId, messageId } as const
    note({ ...change, wakes: [...wakes, threadChannel(threadId)] }, 'recorded')
  }
  return places
}
