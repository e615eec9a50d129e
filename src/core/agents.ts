/** Agents: the named identities of a project, and who may act as one. */
import { nameKey } from '../base/names.ts'
import { findAgent, insertAgent, sumUnread } from '../store/agents.ts'
import type { Caller } from './callers.ts'
import { commit } from './commit.ts'
import { type Hub, remember } from './hub.ts'
import { ensureProject } from './projects.ts'

export interface Agent {
  readonly id: number
  readonly projectId: number
  /** As it was first written. */
  readonly name: string
}

/** The topic that mail for an agent wakes. */
export const mailTopic = (agentId: number): string => `mail:${agentId}`

/** An agent by name in a project (slug or key). One that was never seen before is made: it needs no set-up. */
export async function ensureAgent(hub: Hub, project: string, name: string): Promise<Agent> {
  const projectId = await ensureProject(hub, project)
  const key = nameKey(name)
  const known = hub.known.agents.get(`${projectId}/${key}`)
  if (known !== undefined) return known
  const row =
    (await findAgent(hub.db, projectId, key)) ??
    (await commit(hub, async (tx, note) => {
      const found = await findAgent(tx, projectId, key)
      if (found !== undefined) return found
      const made = await insertAgent(tx, { projectId, name, nameKey: key, now: hub.clock.now() })
      note({ kind: 'agent.created', projectId, agentId: made.id, wakes: [] })
      return made
    }))
  return remember(hub.known.agents, `${projectId}/${key}`, { id: row.id, projectId, name: row.name })
}

/** Whom a caller wants to act as. */
export interface Acting {
  readonly caller: Caller
  readonly project: string
  readonly name: string
}

/**
 * The agent a caller acts as, if it may: the operator as any, a local caller as any that has no key. No agent has one
 * before keys are handed out, so that both pass today; every verb asks here.
 */
export async function actAs(hub: Hub, { caller, project, name }: Acting): Promise<Agent> {
  const agent = await ensureAgent(hub, project, name)
  switch (caller.kind) {
    case 'operator':
    case 'local':
      return agent
  }
}

export const countUnread = (hub: Hub): Promise<number> => sumUnread(hub.db)
