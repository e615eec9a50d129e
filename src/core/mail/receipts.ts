/** Receipts: an agent has read a message, or confirms it. */
import { HubError } from '../../base/errors.ts'
import { inSpan, noteAgent } from '../../base/tracing.ts'
import { updateUnread } from '../../store/agents/agents.ts'
import { findReceipt, updateReceipt } from '../../store/messages/deliveries.ts'
import { findSender } from '../../store/messages/messages.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'

interface Receipt {
  readonly readAt: number
  readonly ackedAt: number | undefined
}

/** The first time stands. */
export const markRead = (hub: Hub, acting: Acting, messageId: number): Promise<Receipt> =>
  sign(hub, acting, { messageId, ack: false })

/** A confirmed message counts as read (mail.ack.alone). */
export const acknowledgeMessage = (hub: Hub, acting: Acting, messageId: number): Promise<Receipt> =>
  sign(hub, acting, { messageId, ack: true })

interface Signing {
  readonly messageId: number
  readonly ack: boolean
}

const sign = (hub: Hub, acting: Acting, signing: Signing): Promise<Receipt> =>
  inSpan('receipt', () => signNow(hub, acting, signing))

async function signNow(hub: Hub, acting: Acting, { messageId, ack }: Signing): Promise<Receipt> {
  const agent = await actAs(hub, acting)
  noteAgent(agent)
  const before = await findReceipt(reader(hub), messageId, agent.id)
  if (before === undefined) throw await notAddressed(hub, agent, messageId)
  // Repeating costs no write.
  if (before.read_at !== null && before.ended === null && (before.acked_at !== null || !ack))
    return toReceipt(before.read_at, before.acked_at)
  return commit(
    hub,
    acting.caller,
    async (tx, note) => {
      const now = hub.clock.now()
      const found = await findReceipt(tx, messageId, agent.id, { lock: true })
      if (found === undefined) throw await notAddressed(hub, agent, messageId)
      const readAt = found.ended === null ? (found.read_at ?? now) : now
      const ackedAt = found.acked_at ?? (ack ? now : null)
      updateReceipt(tx, { id: found.id, readAt, ackedAt })
      if (found.read_at === null) updateUnread(tx, agent.id, -1)
      note({
        kind: ack ? 'mail.acknowledged' : 'mail.read',
        projectId: agent.projectId,
        agentId: agent.id,
        messageId,
      })
      return toReceipt(readAt, ackedAt)
    },
    { idempotent: true },
  )
}

const toReceipt = (readAt: number, ackedAt: number | null): Receipt => ({ readAt, ackedAt: ackedAt ?? undefined })

async function notAddressed(hub: Hub, { id, name }: Agent, messageId: number): Promise<HubError> {
  if ((await findSender(reader(hub), messageId)) !== id)
    return new HubError('MESSAGE_NOT_FOUND', `${name} has no message ${messageId}.`)
  return new HubError('MESSAGE_NOT_FOUND', `${name} wrote message ${messageId}, and did not receive it.`, {
    hint: 'Only recipients read and acknowledge a message: you need do nothing.',
  })
}
