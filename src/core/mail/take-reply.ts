/** Taking the reply that a call has waited for out of the mailbox: it is read from then on, unless the answer is lost. */
import { findMailTo } from '../../store/messages/deliveries.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { markShown } from './shown.ts'
import { mailOf, type Taken } from './take.ts'

/** A reply that was taken before comes again: the call that took it may have died with its answer. */
export async function takeReply(hub: Hub, acting: Acting, messageId: number): Promise<Taken | undefined> {
  needWriting(acting.caller)
  const agent = await actAs(hub, acting)
  const row = await findMailTo(reader(hub), { recipientId: agent.id, messageId, now: hub.clock.now() })
  if (row === undefined) return undefined
  const seconds = Math.max(0, hub.clock.now() - row.created_at) / 1000
  if (row.read_at === null) hub.metrics.mailLatency.observe(seconds)
  const unread = row.read_at === null ? [messageId] : []
  return { mail: mailOf(row, undefined, agent.projectId), putBack: await markShown(hub, acting.caller, agent, unread) }
}
