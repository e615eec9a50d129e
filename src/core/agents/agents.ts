/** Agents: the named identities of a project. */
import { lookOf } from '../../base/confusables.ts'
import { HubError } from '../../base/errors.ts'
import {
  agentNamePattern,
  agentNameRule,
  hubName,
  isBroadcast,
  isHub,
  isReserved,
  nameKey,
  overseer,
} from '../../base/names.ts'
import { echo } from '../../base/text.ts'
import type { Tx } from '../../db/port.ts'
import {
  type AgentRow,
  findAgent,
  findLookalike,
  insertAgent,
  listHomes,
  sumUnread,
} from '../../store/agents/agents.ts'
import type { Caller } from '../access/callers.ts'
import { keyChannels } from '../access/keys.ts'
import { homeOf } from '../access/rules.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { findPlace, isNew, makeProject, type NewProject, needProject, type Project } from '../projects/projects.ts'
import { findNear, findNearAnywhere } from './near.ts'

export interface Agent {
  readonly id: number
  readonly projectId: number
  /** As it was first written. */
  readonly name: string
}

export const contactPolicies = ['open', 'auto', 'contacts_only', 'block_all'] as const

/** The contact policy of an agent; core/contacts/judging.ts carries it out. */
export type ContactPolicy = (typeof contactPolicies)[number]

/** The wake-up channel of an agent's mail. */
export const mailChannel = (agentId: number): string => `mail:${agentId}`

/** The wake-up channel of an agent's contacts: requests to it, and answers to its own. */
export const contactChannel = (agentId: number): string => `contact:${agentId}`

/** The wake-up channel of an agent's keys. */
export const keyChannel = (agentId: number): string => `${keyChannels}${agentId}`

/** An agent as it was read. */
export interface Known extends Agent {
  readonly keyed: boolean
  /** When it was read. */
  readonly at: number
}

/** Agents seen before. They are never renamed, and keep a key once they have one. */
const agentsSeen = memory(() => new Map<string, Known>())

const placeOf = (projectId: number, key: string): string => `${projectId}/${key}`

interface Wanted {
  /** Its slug or key. */
  readonly project: string
  readonly name: string
  /** The contact policy of a new agent depends on the door it came by (mail.agent.policy). */
  readonly policy?: ContactPolicy
  /** Somebody else names it: a new agent then has never been active. */
  readonly unseen?: boolean
}

/** An agent that does not exist yet: it is made in the transaction of what needs it. */
export interface Newcomer {
  readonly place: Project | NewProject
  readonly name: string
  readonly policy: ContactPolicy
  readonly unseen: boolean
}

export const isNewcomer = (agent: Agent | Newcomer): agent is Newcomer => 'place' in agent

/** The agent of this name, or the one to make: an agent needs no set-up. */
export async function findOrNew(
  hub: Hub,
  caller: Caller,
  { project, name, policy = 'open', unseen = false }: Wanted,
): Promise<Known | Newcomer> {
  const place = await findPlace(hub, caller, project)
  return (isNew(place) ? undefined : await findIn(hub, place.id, name)) ?? { place, name, policy, unseen }
}

/** The agent that stands for people in a project, whoever names it first (web.overseer.identity). */
const people = { name: overseer, policy: 'open', program: 'WebUI', model: 'Human' } as const

/** In the transaction of the call: one that fails leaves neither agent nor project behind (all.calls.nothing-made). */
export async function makeAgent(hub: Hub, tx: Tx, note: Note, newcomer: Newcomer): Promise<AgentRow> {
  const { place, name, policy, unseen } = newcomer
  const { id: projectId } = isNew(place) ? await makeProject(hub, tx, note, place) : place
  const found = await findAgent(tx, projectId, nameKey(name))
  if (found !== undefined) return found
  // Mail to "human-overseer" is mail to people, and is shown as that.
  const who = isReserved(name) ? people : { name, policy }
  refuseTakenName(name)
  await refuseLookalike(tx, projectId, who.name)
  const now = hub.clock.now()
  const activeAt = unseen ? 0 : now
  const made = await insertAgent(tx, { projectId, nameKey: nameKey(name), ...who, activeAt, now })
  note({ kind: 'agent.created', projectId, agentId: made.id })
  return made
}

/** The name of an agent that is made for its owner, before it has called: its client must be able to say it at every door. */
export function refuseName(name: string): void {
  if (!agentNamePattern.test(name))
    throw new HubError('INVALID_ARGUMENT', `The name of an agent is ${agentNameRule}.`, {
      hint: 'Choose another name.',
    })
  if (isReserved(name))
    throw new HubError('INVALID_ARGUMENT', `The name ${overseer} is reserved for people.`, {
      hint: 'Choose another name.',
    })
  refuseTakenName(name)
}

/** Names that no new agent has: that of Parley itself (all.names.hub), and those that every send refuses as a broadcast (all.names.broadcast). */
export function refuseTakenName(name: string): void {
  if (isHub(name))
    throw new HubError('INVALID_ARGUMENT', `The name ${hubName} is that of the hub, which signs its notices with it.`, {
      hint: 'Choose a name of your own, such as GreenCastle.',
    })
  if (!isBroadcast(name)) return
  throw new HubError('INVALID_ARGUMENT', `The name ${JSON.stringify(name)} means all agents: no agent can have it.`, {
    hint: 'Choose a name of your own, such as GreenCastle.',
  })
}

/** A new name that people and models would take for another one of its project, or for that of people (all.names.lookalikes). */
export async function refuseLookalike(tx: Tx, projectId: number, name: string): Promise<void> {
  const look = lookOf(name)
  const other = look === lookOf(overseer) ? overseer : await findLookalike(tx, projectId, look)
  // The same name, made by another node meanwhile, is for the index to refuse: whoever makes this one then looks again.
  if (other === undefined || nameKey(other) === nameKey(name)) return
  throw new HubError(
    'INVALID_ARGUMENT',
    `The name ${JSON.stringify(name)} looks like ${JSON.stringify(other)}, which is another agent.`,
    { hint: `Write ${JSON.stringify(other)} if you mean that agent, or choose a name that cannot be mistaken for it.` },
  )
}

/** For calls that nothing can refuse any more: the agent is made at once. */
export async function ensureAgent(hub: Hub, caller: Caller, wanted: Wanted): Promise<Known> {
  const agent = await findOrNew(hub, caller, wanted)
  if (!isNewcomer(agent)) return agent
  return known(hub, await commit(hub, caller, (tx, note) => makeAgent(hub, tx, note, agent)))
}

/** An agent that is there already, or undefined. */
export async function findIn(hub: Hub, projectId: number, name: string): Promise<Known | undefined> {
  const key = nameKey(name)
  const agent = agentsSeen(hub).get(placeOf(projectId, key))
  if (agent !== undefined) return agent
  const row = await findAgent(reader(hub), projectId, key)
  return row && known(hub, row)
}

/** Remembers an agent that was read or made. */
export const known = (hub: Hub, { id, project_id, name, keyed }: AgentRow): Known =>
  remember(agentsSeen(hub), placeOf(project_id, nameKey(name)), {
    id,
    projectId: project_id,
    name,
    keyed: keyed === 1,
    at: hub.clock.now(),
  })

/** How long an agent counts as keyless without asking again: another process may give it a key. Asking would cost a query a call. */
const keylessMs = 1000

/** Whether an agent has or had a key. Nearly always that is known, and costs no turn of the loop. */
export const keyedNow = (hub: Hub, seen: Known): boolean | Promise<boolean> =>
  seen.keyed || Math.abs(hub.clock.now() - seen.at) < keylessMs ? seen.keyed : askKeyed(hub, seen)

async function askKeyed(hub: Hub, { projectId, name }: Known): Promise<boolean> {
  const row = await findAgent(reader(hub), projectId, nameKey(name))
  return row !== undefined && known(hub, row).keyed
}

/** This process knows of a new key at once. */
export function noteKeyed(hub: Hub, { id, projectId, name }: Agent): void {
  known(hub, { id, project_id: projectId, name, keyed: 1 })
}

/** For agents that are only looked at, or have to exist first: none is made. */
export async function needAgent(hub: Hub, caller: Caller, project: string, name: string): Promise<Known> {
  const home = await needProject(hub, caller, project)
  const agent = await findIn(hub, home.id, name)
  if (agent !== undefined) return agent
  throw await noAgent(hub, caller, { home, name })
}

/** The reason is there if the agent is only looked at: who wants to act as it has to register. */
export async function noAgent(
  hub: Hub,
  caller: Caller,
  { home: { id: projectId, slug }, name, reason }: { home: Project; name: string; reason?: 'no_agent' },
): Promise<HubError> {
  const near = await findNear(hub, caller, { projectId, name })
  return new HubError('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(name)} in the project ${slug}.`, {
    reason,
    ...(near.length > 0 && { hint: `Did you mean ${near.join(' or ')}?` }),
  })
}

/** The only project with an agent of this name: for callers that name no project. */
export async function needHome(hub: Hub, caller: Caller, name: string): Promise<string> {
  const homes = await listHomes(reader(hub), { nameKey: nameKey(name), only: homeOf(caller), limit: 6 })
  const [home, ...others] = homes
  if (home !== undefined && others.length === 0) return home
  if (home === undefined) {
    const near = await findNearAnywhere(hub, caller, name)
    throw new HubError('AGENT_NOT_FOUND', `No project has an agent ${JSON.stringify(echo(name))}.`, {
      ...(near.length > 0 && { hint: `Did you mean ${near.join(' or ')}?` }),
    })
  }
  throw new HubError('INVALID_ARGUMENT', `Several projects have an agent ${JSON.stringify(name)}.`, {
    hint: `Name the project as well: ${homes.slice(0, 5).join(', or ')}.`,
  })
}

export const countUnread = (hub: Hub): Promise<number> => sumUnread(longReader(hub))
