/** Claims of bridges: a bridge hands the text of a message to its agent, and its claim counts as the announcement. */
import { HubError } from '../../base/errors.ts'
import { claimAnnouncement, updateOffered, updateReturned } from '../../store/mail/announcements.ts'
import { findOwnMessage } from '../../store/mail/conversations.ts'
import { findReceipt } from '../../store/messages/deliveries.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type Claim, claimMessage } from '../mail/claims.ts'
import { heldWakes, noteWoken } from '../messages/loops.ts'
import { mostTries } from './announce.ts'

interface BridgeClaim {
  readonly uid: string
  readonly client?: string | undefined
  /** The bridge, as `openclaw`. */
  readonly via: string
}

/**
 * Announced first, claimed second: whoever dies in between leaves an announcement that nobody confirms, which is free again. The gateway's
 * acceptance is a receipt, so that no other proof is needed. A bridge may try as often as it wants.
 */
export async function claimForBridge(hub: Hub, acting: Acting, { uid, via, ...given }: BridgeClaim): Promise<Claim> {
  needWriting(acting.caller)
  const { client = hub.ids.token() } = given
  const agent = await actAs(hub, acting)
  const message = await findOwnMessage(reader(hub), agent.id, uid)
  const receipt = message && (await findReceipt(reader(hub), message.id, agent.id))
  if (message === undefined || receipt === undefined) return claimMessage(hub, acting, { uid, client })
  const held = await heldWakes(hub, agent.id)
  if (held?.threadIds.includes(message.thread_id) || held?.senderIds.includes(message.sender_id))
    throw new HubError('MESSAGE_CLAIMED', 'Waking is paused for this message: agents have only answered each other.', {
      hint: 'Leave it in the mailbox until a person lets wakes go on.',
    })
  const now = hub.clock.now()
  const { confirmMs, remindMs } = hub.rules.waking
  const taken = await commit(hub, acting.caller, async (tx) => {
    const terms = {
      agentId: agent.id,
      now,
      unconfirmedBefore: now - confirmMs,
      confirmedBefore: now - remindMs,
      mostTries: 2 ** 31 - 1,
    }
    const own = { deliveryId: receipt.id, via, session: `claim:${client}` }
    const taken = await claimAnnouncement(tx, { ...terms, ...own })
    if (taken) await updateOffered(tx, [receipt.id], now, via)
    return taken
  })
  if (!taken)
    throw new HubError('MESSAGE_CLAIMED', 'The agent was told of the message in another session.', {
      hint: 'Leave the message to that session. It is free again if nothing comes of it.',
    })
  try {
    await noteWoken(hub, acting.caller, agent)
    return await claimMessage(hub, acting, { uid, client })
  } catch (error) {
    await commit(hub, acting.caller, (tx) => updateReturned(tx, { ids: [receipt.id], announcedAt: now, mostTries }))
    throw error
  }
}
