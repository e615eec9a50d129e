/** A take whose commit nobody answered: what it took is found by its hold, else it takes now. Otherwise a popped message would be gone. */
import { isPassing, isUnsure } from '../../db/faults.ts'
import type { Tx } from '../../db/port.ts'
import { lockAgents } from '../../store/contacts/connections.ts'
import { findHeldDelivery, type MailRow, type Taking } from '../../store/messages/deliveries.ts'
import { type Actor, commit, type Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'

/** `take` runs in a transaction of its own. */
export async function takeAgain(
  hub: Hub,
  by: Actor,
  {
    taking,
    unsure,
    take,
  }: { taking: Taking; unsure: unknown; take: (tx: Tx, note: Note) => Promise<MailRow | undefined> },
): Promise<MailRow | undefined> {
  if (!isUnsure(unsure)) throw unsure
  const { recipientId } = taking
  const found = commit(
    hub,
    by,
    async (tx, note) => {
      // The first attempt may still be on its way to the disk, and holds the row of its agent until then.
      await lockAgents(tx, [recipientId])
      return (await findHeldDelivery(tx, taking)) ?? take(tx, note)
    },
    { idempotent: true },
  )
  // That the database is away now does not say that the first attempt took nothing.
  return found.catch((error: unknown) => {
    throw isPassing(error) ? unsure : error
  })
}
