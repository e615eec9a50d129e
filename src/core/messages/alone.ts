/** Messages that are all their units would write: on PostgreSQL those that come while others are stored go together, as one statement. */
import { isReserved } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import { insertMailsAlone, type MailAlone } from '../../store/mailings.ts'
import type { Placed } from '../../store/sending.ts'
import type { Caller } from '../access/callers.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import type { Note } from '../hub/commit.ts'
import { type Kind, type Locking, together } from '../hub/gathering.ts'
import type { Hub } from '../hub/hub.ts'
import { findTerms } from './admission.ts'
import { compose, receiptOf } from './composing.ts'
import { isFiled, threadChannel, threadChannels } from './placing.ts'
import type { Stored } from './receipt.ts'
import { type Addressee, guestsOf, type Recipient } from './recipients.ts'
import type { Dispatch } from './send.ts'

/** With more recipients, or a longer text, a message goes the long way: those of its group would wait for it. */
const mostRecipients = 64
const mostCharacters = 8192

interface Letter extends MailAlone, Locking {}

/** `atLength`: the way of a message that takes more than this, or is not let through at once. */
export async function sendAlone<Sent>(
  hub: Hub,
  { caller, uid, what }: { caller: Caller; uid: string; what: Dispatch },
  atLength: () => Promise<Sent>,
): Promise<Sent | { sender: Agent; outcome: Stored }> {
  const written = write(hub, caller, uid, what)
  if (written === undefined) return atLength()
  const { letter, composed, sender, recipients } = written
  const placed = await together(hub, letters, letter, async () => ({ sent: await atLength() }))
  if (placed === undefined) return atLength()
  if ('sent' in placed) return placed.sent
  return { sender, outcome: receiptOf(composed, placed, { passed: recipients, blocked: [] }) }
}

/** Undefined where the message is not all that has to be written. */
function write(hub: Hub, caller: Caller, uid: string, { sender, recipients, draft, enclosed }: Dispatch) {
  if (caller.readOnly || isNewcomer(sender)) return undefined
  const { clientId, thread: key, threadId, replyTo, conversation, links = [] } = draft
  if ((clientId ?? key ?? threadId ?? replyTo) !== undefined || links.length > 0) return undefined
  if (enclosed instanceof Error || (enclosed?.attachments.length ?? 0) > 0) return undefined
  if (conversation !== undefined && conversation.thread === undefined) return undefined
  if (!isFiled(draft, conversation?.thread)) return undefined
  if (recipients.length > mostRecipients || !recipients.every(isKnown)) return undefined
  if ((enclosed?.body ?? draft.body).length > mostCharacters) return undefined
  const thread = conversation?.thread
  if (guestsOf(sender, recipients, thread?.project_id ?? sender.projectId).length > 0) return undefined
  const terms = findTerms(hub, { sender, recipients, exempt: isReserved(sender.name) })
  if (terms === undefined) return undefined
  const composed = compose(hub, { uid, sender, draft, enclosed, place: { thread } })
  const wakes = recipients.map(({ agent }) => mailChannel(agent.id))
  const letter: Letter = {
    ...composed,
    to: recipients.map(({ agent, kind }) => ({ id: agent.id, kind })),
    terms,
    telling: { actor: caller.key, projectId: sender.projectId, wakes, threads: threadChannels },
    rows: thread === undefined ? wakes : [...wakes, threadChannel(thread.id)],
  }
  return { letter, composed, sender, recipients }
}

const isKnown = (addressee: Addressee): addressee is Recipient => !isNewcomer(addressee.agent)

/** Undefined for one that was not let through at once. */
const letters: Kind<Letter, Placed | undefined> = { run: store, sharing: true }

async function store(tx: Tx, note: Note, letters: readonly Letter[]): Promise<(Placed | undefined)[]> {
  const all = await insertMailsAlone(tx, letters)
  for (const [n, { telling, mail }] of letters.entries()) {
    const placed = all[n]
    if (placed === undefined) continue
    const { threadId, messageId } = placed
    const { projectId, wakes } = telling
    const change = { kind: 'message.sent', projectId, agentId: mail.senderId, threadId, messageId } as const
    note({ ...change, wakes: [...wakes, threadChannel(threadId)] }, 'recorded')
  }
  return all
}
