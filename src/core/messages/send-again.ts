/** A send whose commit nobody answered: its message is found by its uid, else it is sent once more under the same one, which is unique. */
import { isFault, isPassing, isUnsure } from '../../db/faults.ts'
import { findMessageByUid } from '../../store/messages/messages.ts'
import { type Agent, isNewcomer, type Newcomer } from '../agents/agents.ts'
import { reachStandby } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type Stored, storedReceipt } from './receipt.ts'

/** The end of one attempt: a message that is stored, or something else that `send` may answer. */
interface Attempted<Outcome> {
  readonly sender: Agent
  readonly outcome: Outcome
}

interface Sending {
  readonly uid: string
  readonly sender: Agent | Newcomer
}

export async function sendSurely<Outcome>(
  hub: Hub,
  { uid, sender }: Sending,
  send: () => Promise<Attempted<Outcome>>,
): Promise<Attempted<Outcome | Stored>> {
  try {
    return await send()
  } catch (unsure) {
    if (!isUnsure(unsure) || isNewcomer(sender)) throw unsure
    const find = async (): Promise<Attempted<Stored> | undefined> => {
      const id = await findMessageByUid(reader(hub), uid)
      if (id === undefined) return undefined
      await reachStandby(hub)
      return { sender, outcome: { ...(await storedReceipt(reader(hub), id)), duplicate: false } }
    }
    try {
      return (await find()) ?? (await send())
    } catch (error) {
      // The first attempt was still on its way, and is there now.
      const found = isFault(error, 'unique') ? await find() : undefined
      if (found !== undefined) return found
      // That the database is away now does not say that the first attempt did nothing.
      throw isPassing(error) ? unsure : error
    }
  }
}
