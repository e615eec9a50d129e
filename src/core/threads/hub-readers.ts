/** Readers at the hub: a caller, and the agent that it is there, if any. */
import { HubError } from '../../base/errors.ts'
import { commons, nameKey } from '../../base/names.ts'
import { listGranters } from '../../store/threads/grants.ts'
import { isSeen, listThreadsById, listThreadsNamed, type ThreadRow } from '../../store/threads/hub-threads.ts'
import type { Sight } from '../../store/visibility.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, hubSight, mayTakeName, seesAll, wholeSight } from '../access/rules.ts'
import { type Acting, findActor, notYours } from '../agents/acting.ts'
import { type Agent, findIn, isNewcomer } from '../agents/agents.ts'
import { needKeyed } from '../agents/connection.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { agentWaiter } from '../hub/waits.ts'
import { needProject, type Project, slugOfProject } from '../projects/projects.ts'

/** The caller of the hub's verbs, with what its URL says: an agent by its key needs neither name nor project. */
export interface HubCaller {
  readonly caller: Caller
  readonly project?: string | undefined
  readonly name?: string | undefined
}

export interface HubReader {
  readonly project: Project
  /** The agent that looks; none for somebody without a name, or whose name nobody has yet. */
  readonly agent: Agent | undefined
  /** Whether it sees every thread of the project. */
  readonly all: boolean
}

/**
 * The project and the name by which a caller acts; the holder of a key is the agent of the key. A token that names no agent
 * is nobody here: a name on the URL is for those who are on this machine, and for the operator (hub.caller.token).
 */
async function placeOf(hub: Hub, { caller, project, name }: HubCaller): Promise<{ project: string; name?: string }> {
  const me = agentOf(caller)
  if (me === undefined)
    return { project: project ?? commons, ...(name !== undefined && mayTakeName(caller) && { name }) }
  if (project !== undefined) await needProject(hub, caller, project)
  if (me.unmade !== undefined) return me.unmade
  const self = await needKeyed(hub, me.agentId)
  if (name !== undefined && nameKey(name) !== nameKey(self.name)) throw notYours(caller, { name })
  return { project: project ?? (await slugOfProject(hub, self.projectId)), name: self.name }
}

/** For what is done in an agent's name. */
export async function actingOf(hub: Hub, hubCaller: HubCaller): Promise<Acting> {
  const { project, name } = await placeOf(hub, hubCaller)
  if (name === undefined)
    throw new HubError('FORBIDDEN', 'This call does not say which agent you are.', { reason: 'nameless' })
  return { caller: hubCaller.caller, project, name }
}

export async function hubReaderOf(hub: Hub, hubCaller: HubCaller): Promise<HubReader> {
  const { caller } = hubCaller
  const place = await placeOf(hub, hubCaller)
  const project = await needProject(hub, caller, place.project)
  const all = seesAll(caller)
  if (place.name === undefined || (await findIn(hub, project.id, place.name)) === undefined)
    return { project, agent: undefined, all }
  const agent = await findActor(hub, { caller, project: project.slug, name: place.name })
  return { project, agent: isNewcomer(agent) ? undefined : agent, all }
}

/** Nobody, where the caller may not look, or there is no such project as yet. */
export async function findHubReader(hub: Hub, hubCaller: HubCaller): Promise<HubReader | undefined> {
  try {
    return await hubReaderOf(hub, hubCaller)
  } catch (error) {
    if (error instanceof HubError) return undefined
    throw error
  }
}

/** By whom waits at the hub are counted: the agent, once there is one. */
export const waiterOf = ({ caller, project, name = '' }: HubCaller, hubReader: HubReader | undefined): string =>
  hubReader?.agent === undefined ? `${caller.key} ${project ?? ''} ${nameKey(name)}` : agentWaiter(hubReader.agent.id)

/** A thread, and what may be read of it. */
export interface Seen {
  readonly thread: ThreadRow
  readonly sight: Sight
  /** Whether the agent takes part itself; else somebody granted it their view. */
  readonly own: boolean
  readonly mayWrite: boolean
}

/** The thread of this name that is seen: a foreign one and a missing one answer alike (hub.thread.foreign). */
export async function needSeen(hub: Hub, { project, agent, all }: HubReader, key: string): Promise<Seen> {
  const now = hub.clock.now()
  const named =
    agent === undefined && !all
      ? []
      : await listThreadsNamed(reader(hub), { key, projectId: project.id, agentId: agent?.id, now })
  for (const thread of named) {
    const seen = await seenThrough(hub, { thread, agent, all })
    if (seen !== undefined) return seen
  }
  throw noThread(key)
}

export const noThread = (key: string): HubError =>
  new HubError('THREAD_NOT_FOUND', `You can see no thread ${JSON.stringify(key)}.`)

/** The same for a thread that is known by one of its messages. */
export async function findSeen(hub: Hub, { agent, all }: HubReader, threadId: number): Promise<Seen | undefined> {
  const [thread] = await listThreadsById(reader(hub), [threadId])
  return thread && seenThrough(hub, { thread, agent, all })
}

async function seenThrough(
  hub: Hub,
  { thread, agent, all }: { thread: ThreadRow; agent: Agent | undefined; all: boolean },
): Promise<Seen | undefined> {
  if (all) return { thread, sight: wholeSight, own: true, mayWrite: true }
  if (agent === undefined) return undefined
  const grants = await listGranters(reader(hub), { threadId: thread.id, agentId: agent.id, now: hub.clock.now() })
  const own = await isSeen(reader(hub), thread.id, hubSight(agent.id))
  if (!own && grants.length === 0) return undefined
  return { thread, sight: hubSight(agent.id, grants), own, mayWrite: own || grants.some(({ can }) => can === 'write') }
}
