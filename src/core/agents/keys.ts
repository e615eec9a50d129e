/** Giving an agent a key: from then on nobody else acts as it. */
import { deleteHoldersOf } from '../../store/holders.ts'
import { insertKey, updateKeyed } from '../../store/keys.ts'
import { hashKey, newKey } from '../access/keys.ts'
import { mayActAs } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { type Acting, actAs, notYours } from './acting.ts'
import { type Agent, mailChannel, noteKeyed } from './agents.ts'

/**
 * For those who may act as the agent. A key that is there stays good. Names that somebody else holds at a topic are given
 * up, so that the owner can take them.
 */
export async function createKey(hub: Hub, acting: Acting): Promise<{ agent: Agent; key: string }> {
  const { caller } = acting
  const agent = await actAs(hub, { ...acting, registered: true, unnoticed: true })
  const key = newKey(hub)
  await commit(hub, caller, async (tx, note) => {
    // Of two who give the first key at once, one finds the agent taken.
    const first = await updateKeyed(tx, agent.id)
    if (!first && !mayActAs(caller, { ...agent, keyed: true })) throw notYours(caller, agent)
    if (first) await deleteHoldersOf(tx, agent.id)
    await insertKey(tx, { hash: hashKey(key), agentId: agent.id, now: hub.clock.now() })
    note({ kind: 'agent.keyed', projectId: agent.projectId, agentId: agent.id, wakes: [mailChannel(agent.id)] })
  })
  noteKeyed(hub, agent)
  return { agent, key }
}
