/** Agents: the named identities of a project, and who may act as one. */

import { HubError } from '../../base/errors.ts'
import { isReserved, nameKey, overseer } from '../../base/names.ts'
import { type AgentRow, findAgent, insertAgent, listHomes, sumUnread } from '../../store/agents.ts'
import type { Caller } from '../access/callers.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { ensureProject, needProject } from '../projects/projects.ts'
import { activity } from './activity.ts'

export interface Agent {
  readonly id: number
  readonly projectId: number
  /** As it was first written. */
  readonly name: string
}

export const contactPolicies = ['open', 'auto', 'contacts_only', 'block_all'] as const

/** Who may write to an agent; core/contacts/judging.ts says what each means. */
export type ContactPolicy = (typeof contactPolicies)[number]

/** Agents seen before. They are never renamed, so that this stays true. */
const knownAgents = memory(() => new Map<string, Agent>())

/** The wake-up channel of an agent's mail. */
export const mailChannel = (agentId: number): string => `mail:${agentId}`

/**
 * An agent by name in a project (slug or key). One that was never seen before is made: it needs no set-up. What it
 * starts with depends on the door it came by (DECISIONS, "All doors" 12).
 */
export async function ensureAgent(
  hub: Hub,
  project: string,
  name: string,
  policy: ContactPolicy = 'open',
): Promise<Agent> {
  const { id: projectId } = await ensureProject(hub, project)
  const found = await findIn(hub, projectId, name)
  if (found !== undefined) return found
  const key = nameKey(name)
  const row = await commit(hub, async (tx, note) => {
    const found = await findAgent(tx, projectId, key)
    if (found !== undefined) return found
    const made = await insertAgent(tx, { projectId, name, nameKey: key, policy, now: hub.clock.now() })
    note({ kind: 'agent.created', projectId, agentId: made.id, wakes: [] })
    return made
  })
  return known(hub, row)
}

/** An agent that is there already, or undefined. */
export async function findIn(hub: Hub, projectId: number, name: string): Promise<Agent | undefined> {
  const key = nameKey(name)
  const agent = knownAgents(hub).get(`${projectId}/${key}`)
  if (agent !== undefined) return agent
  const row = await findAgent(reader(hub), projectId, key)
  return row && known(hub, row)
}

/** Remembers an agent that was read or made. */
export const known = (hub: Hub, { id, project_id, name }: AgentRow): Agent =>
  remember(knownAgents(hub), `${project_id}/${nameKey(name)}`, { id, projectId: project_id, name })

/** An agent that is only looked at, or that has to be there first, is not made by it. */
export async function needAgent(hub: Hub, project: string, name: string): Promise<Agent> {
  const { id, slug } = await needProject(hub, project)
  const agent = await findIn(hub, id, name)
  if (agent !== undefined) return agent
  throw noAgent(name, slug)
}

export const noAgent = (name: string, slug: string): HubError =>
  new HubError('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(name)} in the project ${slug}.`)

/** The project of an agent whose name only one project has: for callers that name none. */
export async function needHome(hub: Hub, name: string): Promise<string> {
  const homes = await listHomes(reader(hub), nameKey(name), 6)
  const [home, ...others] = homes
  if (home !== undefined && others.length === 0) return home
  if (home === undefined) throw new HubError('AGENT_NOT_FOUND', `No project has an agent ${JSON.stringify(name)}.`)
  throw new HubError('INVALID_ARGUMENT', `Several projects have an agent ${JSON.stringify(name)}.`, {
    hint: `Name the project as well: ${homes.slice(0, 5).join(', or ')}.`,
  })
}

/** Whom a caller wants to act as. */
export interface Acting {
  readonly caller: Caller
  readonly project: string
  readonly name: string
  /** At doors where an agent registers before it acts, a name that nobody has is an error. */
  readonly registered?: boolean
  /** Somebody else looks for it, or acts in its place: it is not active by that. */
  readonly unnoticed?: boolean
}

/**
 * The agent a caller acts as, if it may: the operator as any, a local caller as any that has no key. No agent has one
 * before keys are handed out, so that both pass today; every verb asks here.
 */
export async function actAs(hub: Hub, acting: Acting): Promise<Agent> {
  const { caller, project, name, registered = false, unnoticed = false } = acting
  if (caller.kind === 'local' && isReserved(name))
    throw new HubError('FORBIDDEN', `${overseer} is the name of people: no agent acts as it.`, {
      hint: 'Use a name of your own.',
    })
  const agent = registered ? await needAgent(hub, project, name) : await ensureAgent(hub, project, name)
  switch (caller.kind) {
    case 'operator':
    case 'local':
      if (!unnoticed) activity(hub).touch(agent.id)
      return agent
  }
}

export const countUnread = (hub: Hub): Promise<number> => sumUnread(reader(hub))
