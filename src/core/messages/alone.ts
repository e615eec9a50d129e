/** A message that is all its unit writes: on PostgreSQL one statement stores it. */
import type { Tx } from '../../db/port.ts'
import { insertMailAlone, type MailAlone, type Placed } from '../../store/sending.ts'
import { mailChannel } from '../agents/agents.ts'
import { type Actor, LostRace } from '../hub/commit.ts'
import { threadChannels } from './placing.ts'

export interface Alone {
  readonly by: Actor
  /** It is tried once. */
  tried: boolean
}

/** One statement, which commits itself. What it does not let through is asked again, the long way. */
export async function storeAlone(
  tx: Tx,
  alone: Alone,
  { projectId, ...sending }: Omit<MailAlone, 'telling'> & { projectId: number },
): Promise<Placed> {
  alone.tried = true
  const wakes = sending.to.map(({ id }) => mailChannel(id))
  const telling = { actor: alone.by.key, projectId, wakes, threads: threadChannels }
  const placed = await insertMailAlone(tx, { ...sending, telling })
  if (placed === undefined) throw new LostRace('The message is not let through at once.')
  return placed
}
