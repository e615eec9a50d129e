/** The agent that a caller acts as: asked by every verb that does something in an agent's name. */
import { HubError } from '../../base/errors.ts'
import { isHub, isReserved, overseer } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, countsAsActive, isUnnamed, mayActAs } from '../access/rules.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { activity } from './activity.ts'
import {
  type Agent,
  ensureAgent,
  findOrNew,
  isNewcomer,
  type Known,
  keyedNow,
  makeAgent,
  type Newcomer,
  needAgent,
} from './agents.ts'

/** The agent that a caller wants to act as. */
export interface Acting {
  readonly caller: Caller
  readonly project: string
  readonly name: string
  /** The project that the agent was said to be of, where its name told it: it must be the same one. */
  readonly home?: string | undefined
  /** At doors where an agent registers before it acts, a name that nobody has is an error. */
  readonly registered?: boolean
  /** Somebody else looks for the agent, or acts in its place: it does not count as active. */
  readonly unnoticed?: boolean
}

/**
 * The agent a caller acts as, if it may, or the one that it would be if this call made it. Refused before anything is made:
 * a foreign name leaves no agent behind.
 */
export async function findActor(hub: Hub, acting: Acting): Promise<Known | Newcomer> {
  const { caller, project, name, registered = false, unnoticed = false } = acting
  if (isUnnamed(caller) && isReserved(name))
    throw new HubError('FORBIDDEN', `${overseer} is reserved for people: no agent may act as it.`, {
      hint: 'Use a name of your own.',
    })
  if (acting.home !== undefined) await needSame(hub, acting, acting.home)
  // The holder of a key is an agent already, and makes no other by naming it.
  const exists = registered || agentOf(caller) !== undefined
  const agent = exists ? await needAgent(hub, caller, project, name) : await findOrNew(hub, caller, { project, name })
  if (isNewcomer(agent)) return agent
  // Only callers without an agent of their own are refused for it.
  const keyed = isUnnamed(caller) ? keyedNow(hub, agent) : false
  const owned = { id: agent.id, name: agent.name, keyed: typeof keyed === 'boolean' ? keyed : await keyed }
  if (!mayActAs(caller, owned)) throw notYours(caller, agent)
  if (!unnoticed && countsAsActive(caller)) activity(hub).touch(agent.id)
  return agent
}

/** Acting in one project as the agent of another would do things in the wrong place. */
async function needSame(hub: Hub, { caller, project, name }: Acting, home: string): Promise<void> {
  const [here, there] = [await needProject(hub, caller, project), await needProject(hub, caller, home)]
  if (here.id === there.id) return
  throw new HubError('INVALID_ARGUMENT', `${name}@${there.slug} is an agent of another project than ${here.slug}.`, {
    hint: `Call with the project ${there.slug}, or with the name that you have in ${here.slug}.`,
  })
}

/** The same for calls that nothing can refuse any more: a new agent is made at once. */
export async function actAs(hub: Hub, acting: Acting): Promise<Agent> {
  const agent = await findActor(hub, acting)
  if (!isNewcomer(agent)) return agent
  const { caller, project, name } = acting
  await ensureAgent(hub, caller, { project, name })
  return actAs(hub, acting)
}

interface Transaction {
  readonly tx: Tx
  readonly note: Note
  readonly caller: Caller
}

/** In a transaction that needs the agent: one that is rolled back leaves no new agent behind. */
export async function actIn(hub: Hub, { tx, note, caller }: Transaction, actor: Agent | Newcomer): Promise<Agent> {
  if (!isNewcomer(actor)) return actor
  const { id, project_id: projectId, name, keyed } = await makeAgent(hub, tx, note, actor)
  // Somebody else may have made it meanwhile, and given it a key.
  if (!mayActAs(caller, { id, name, keyed: keyed === 1 })) throw notYours(caller, { name })
  return { id, projectId, name }
}

/** Whether the caller may act as this agent; an agent that does not exist is an error. */
export async function canActAs(hub: Hub, acting: Acting): Promise<boolean> {
  try {
    await actAs(hub, { ...acting, registered: true, unnoticed: true })
    return true
  } catch (error) {
    if (error instanceof HubError && error.code === 'FORBIDDEN') return false
    throw error
  }
}

export function notYours(caller: Caller, { name }: Pick<Agent, 'name'>): HubError {
  if (isHub(name))
    return new HubError('FORBIDDEN', `The name ${name} is that of the hub, which signs its notices with it.`, {
      hint: 'Use a name of your own.',
    })
  return isUnnamed(caller)
    ? new HubError('FORBIDDEN', `${name} has a key: nobody acts as it without that key.`, {
        reason: 'keyed',
        hint: 'Call with that key, or use a name of your own.',
      })
    : new HubError('FORBIDDEN', `Your key is not the one of ${name}.`, {
        reason: 'keyed',
        hint: 'Act under the name that the key was made for.',
      })
}
