/** Claims: of several clients of one agent, one takes care of a message; and the session in which it does. */
import { HubError } from '../../base/errors.ts'
import { countAutomatic, findOwnMessage, findSessionKey, upsertSessionKey } from '../../store/mail/conversations.ts'
import { claimDelivery, findReceipt } from '../../store/messages/deliveries.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needPart, noMessage } from './history.ts'
import { markRead } from './receipts.ts'

/** A client that dies keeps its messages from the others for this long. */
const claimMs = 120_000

export interface Claim {
  /** The session in which the agent goes on with the conversation, if one was kept. */
  readonly sessionKey: string | undefined
  /** The automatic messages at the end of the conversation. */
  readonly automaticTurns: number
}

/** Lends an unread message to one client. The client that has it may claim it again, if it said who it is. */
export async function claimMessage(
  hub: Hub,
  acting: Acting,
  { uid, client = hub.ids.token() }: { uid: string; client?: string | undefined },
): Promise<Claim> {
  const agent = await actAs(hub, acting)
  const message = await findOwnMessage(reader(hub), agent.id, uid)
  const receipt = message && (await findReceipt(reader(hub), message.id, agent.id))
  if (message === undefined || receipt === undefined) throw noMessage(agent, uid)
  await commit(hub, acting.caller, async (tx, note) => {
    const now = hub.clock.now()
    const claim = {
      recipientId: agent.id,
      messageId: message.id,
      hold: `claim:${client}`,
      now,
      heldUntil: now + claimMs,
    }
    if (!(await claimDelivery(tx, claim)))
      throw new HubError('MESSAGE_CLAIMED', 'The message was read, or another client has claimed it.', {
        hint: 'Leave the message to the other client; a claim ends after two minutes.',
      })
    note({ kind: 'mail.lent', projectId: agent.projectId, agentId: agent.id, messageId: message.id })
  })
  return {
    sessionKey: await findSessionKey(reader(hub), agent.id, message.thread_id),
    automaticTurns: await countAutomatic(reader(hub), message.thread_id),
  }
}

/** The same as `markRead`, for a message that is known by its uid. */
export async function markReadCalled(hub: Hub, acting: Acting, uid: string): Promise<void> {
  const agent = await actAs(hub, acting)
  const message = await findOwnMessage(reader(hub), agent.id, uid)
  if (message === undefined) throw noMessage(agent, uid)
  await markRead(hub, acting, message.id)
}

/** Keeps the session of the agent's own program in which it goes on with a conversation. */
export async function keepSessionKey(
  hub: Hub,
  acting: Acting,
  { uid, sessionKey }: { uid: string; sessionKey: string },
): Promise<void> {
  const agent = await actAs(hub, acting)
  const thread = await needPart(hub, agent, uid)
  if ((await findSessionKey(reader(hub), agent.id, thread.id)) === sessionKey) return
  await commit(hub, acting.caller, (tx) => upsertSessionKey(tx, agent.id, thread.id, sessionKey))
}
