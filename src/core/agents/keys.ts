/** Giving an agent a key: from then on nobody else acts as it. */
import { insertKey } from '../../store/keys.ts'
import { hashKey, newKey } from '../access/keys.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { type Acting, actAs } from './acting.ts'
import { type Agent, noteKeyed } from './agents.ts'

/** Whoever may act as the agent may give it a key. A key that is there stays good. */
export async function createKey(hub: Hub, acting: Acting): Promise<{ agent: Agent; key: string }> {
  const agent = await actAs(hub, { ...acting, registered: true, unnoticed: true })
  const key = newKey(hub)
  await commit(hub, acting.caller, async (tx, note) => {
    await insertKey(tx, { hash: hashKey(key), agentId: agent.id, now: hub.clock.now() })
    note({ kind: 'agent.keyed', projectId: agent.projectId, agentId: agent.id })
  })
  noteKeyed(hub, agent)
  return { agent, key }
}
