/** Asking: a send that waits for the reply, and the one wait for answers behind every call that asks. */
import { nameKey } from '../../base/names.ts'
import { listRecipientsOf, type RecipientOfRow } from '../../store/mail/mail.ts'
import { listReplies, type ViewRow } from '../../store/threads/hub-threads.ts'
import type { Sight } from '../../store/visibility.ts'
import { hubSight } from '../access/rules.ts'
import { type Acting, findActor } from '../agents/acting.ts'
import { isNewcomer } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { agentWaiter, beginWait } from '../hub/waits.ts'
import { threadChannel } from '../messages/placing.ts'
import type { Sent } from '../messages/send.ts'

/** How long to wait for answers, and what ends the wait early. */
export interface Patience {
  readonly waitMs: number
  /** For waits that no client's call waits for; the hub's own limit, if left out. */
  readonly limitMs?: number | undefined
  readonly signals: readonly AbortSignal[]
  /** Where somebody waits. */
  readonly door?: string | undefined
  /** Whether the wait is among those of its agent already. */
  readonly counted?: boolean
}

/** A message of an agent's own, and its place. */
interface Question {
  readonly agentId: number
  readonly messageId: number
  readonly threadId: number
  readonly seq: number
  readonly sight: Sight
  /** Whether the first answer is enough; else all who were asked have to give one. */
  readonly first?: boolean
  /** By whom the wait is counted; undefined for a task, which was let in before. */
  readonly waiter: string | undefined
}

interface Answered {
  /** The first answer of each agent, in order. */
  readonly rows: readonly ViewRow[]
  readonly asked: readonly RecipientOfRow[]
}

/**
 * An answer names the message, or it is the next word of one that was asked (hub.ask.reply). What was found is in the store, read or
 * not: a wait that breaks off is taken up again, and finds the same answer.
 */
export async function awaitAnswers(
  hub: Hub,
  { agentId, messageId, threadId, seq: after, sight, first = false, waiter }: Question,
  { waitMs: ms, limitMs = hub.limits.waitMs, signals, door, counted = false }: Patience,
): Promise<Answered> {
  const recipients = await listRecipientsOf(reader(hub), [messageId], { blind: true })
  const asked = recipients.filter(({ id }) => id !== agentId)
  const query = {
    threadId,
    messageId,
    after,
    from: asked.map(({ id }) => id),
    notBy: agentId,
    sight,
    now: hub.clock.now(),
  }
  const enough = first ? 1 : Math.max(1, asked.length)
  let rows: ViewRow[] = []
  await wait(hub, { channel: threadChannel(threadId), ms, limitMs, signals, door, waiter, counted }, async () => {
    const found = await listReplies(reader(hub), query)
    rows = first ? found.slice(0, 1) : firstOfEach(found, asked)
    return rows.length >= enough ? { found: true } : {}
  })
  return { rows, asked }
}

/** Of one that was asked alone, anybody's answer counts that names the message. */
function firstOfEach(rows: readonly ViewRow[], asked: readonly { readonly id: number }[]): ViewRow[] {
  if (asked.length <= 1) return rows.slice(0, 1)
  const first = new Map<number, ViewRow>()
  for (const row of rows)
    if (asked.some(({ id }) => id === row.sender_id) && !first.has(row.sender_id)) first.set(row.sender_id, row)
  return [...first.values()]
}

/** Sends, and waits for the first reply in the thread. What is refused its wait is not sent; a retry sends nothing and waits on. */
export async function sendAndAwait<Receipt extends Sent>(
  hub: Hub,
  acting: Acting,
  sending: () => Promise<Receipt>,
  patience: Patience,
): Promise<{ readonly sent: Receipt; readonly replyId: number | undefined }> {
  const asker = await findActor(hub, { ...acting, unnoticed: true })
  const { caller, project, name } = acting
  const waiter = isNewcomer(asker) ? `${caller.key} ${project} ${nameKey(name)}` : agentWaiter(asker.id)
  const waits = patience.waitMs > 0
  const endWait = waits ? beginWait(hub, waiter) : () => {}
  try {
    const sent = await sending()
    const { senderId: agentId, messageId, threadId, seq } = sent
    const question = { agentId, messageId, threadId, seq, sight: hubSight(agentId), first: true, waiter }
    const { rows } = await awaitAnswers(hub, question, { ...patience, counted: waits })
    return { sent, replyId: rows[0]?.id }
  } finally {
    endWait()
  }
}
