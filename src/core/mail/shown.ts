/** Mail that an agent was shown: it is read from then on at every door, unless the answer never reached its client. */
import { updateUnread } from '../../store/agents/agents.ts'
import { updateAllRead, updateAllUnread } from '../../store/messages/deliveries.ts'
import type { Caller } from '../access/callers.ts'
import { type Agent, mailChannel } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'

const nothing = async () => {}

/** Marks those of these messages that the agent was sent and has not read. Returns the way back, for an answer that is lost. */
export async function markShown(
  hub: Hub,
  caller: Caller,
  { id: agentId, projectId }: Agent,
  messageIds: readonly number[],
): Promise<() => Promise<void>> {
  // A look that marks nothing writes nothing, and one who may only read marks nothing.
  if (messageIds.length === 0 || caller.readOnly) return nothing
  const readAt = hub.clock.now()
  const read = await commit(hub, caller, async (tx, note) => {
    const ids = await updateAllRead(tx, { recipientId: agentId, messageIds, now: readAt })
    if (ids.length > 0) updateUnread(tx, agentId, -ids.length)
    for (const messageId of ids) note({ kind: 'mail.read', projectId, agentId, messageId })
    return ids
  })
  if (read.length === 0) return nothing
  return () =>
    commit(hub, caller, async (tx, note) => {
      const ids = await updateAllUnread(tx, { recipientId: agentId, messageIds: read, readAt })
      if (ids.length > 0) updateUnread(tx, agentId, ids.length)
      const wakes = [mailChannel(agentId)]
      for (const messageId of ids) note({ kind: 'mail.returned', projectId, agentId, messageId, wakes })
    })
}
