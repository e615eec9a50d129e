/** The message that a sender says it answers, by an id as any door shows it. */
import { HubError } from '../../base/errors.ts'
import { findReceived } from '../../store/messages/client-ids.ts'
import { type Agent, isNewcomer, type Newcomer } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Addressee } from './recipients.ts'

interface Exchange {
  readonly sender: Agent | Newcomer
  readonly recipients: readonly Addressee[]
}

/** Only what the recipient has sent to the sender is answered: an id is no key to the conversations of others. */
export async function needAnswered(hub: Hub, { sender, recipients }: Exchange, called: string): Promise<number> {
  const other = recipients[0]?.agent
  const known = other !== undefined && !isNewcomer(other) && !isNewcomer(sender)
  const received = known && { senderId: other.id, recipientId: sender.id, called, numbers: true }
  const found = received && (await findReceived(reader(hub), received))
  if (found) return found
  const name = other?.name ?? 'the recipient'
  throw new HubError(
    'MESSAGE_NOT_FOUND',
    `Nothing was sent: ${name} has sent you no message ${JSON.stringify(called)}.`,
    {
      reason: 'no_reply_target',
      hint: 'Pass the id of a message that came from this agent, or leave reply_to out.',
    },
  )
}
