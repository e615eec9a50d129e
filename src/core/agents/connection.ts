/** The caller of a connection, and its project: by the credential first, then by the headers and the URL. */
import { HubError } from '../../base/errors.ts'
import { commons, nameKey, tidyKey } from '../../base/names.ts'
import { echo } from '../../base/text.ts'
import { findOwned } from '../../store/agents/agents.ts'
import { findProfile } from '../../store/agents/profiles.ts'
import type { AgentCaller, Caller } from '../access/callers.ts'
import { agentOf, homeOf, mayActAs } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { projectOfFolder } from '../projects/folders.ts'
import { findPlace, findProjectCalled, isNew, needProject, slugOfProject } from '../projects/projects.ts'
import { type Agent, findIn, keyedNow } from './agents.ts'

/** The names on the URL and in the headers of a connection. */
export interface Said {
  readonly name?: string | undefined
  /** A slug or a key. */
  readonly project?: string | undefined
}

/** The caller, as far as the connection tells. */
export interface Self {
  readonly name?: string | undefined
  /** The key of the project, which need not exist yet. */
  readonly project?: string | undefined
  /** Why the project is not the folder that the client works in. */
  readonly note?: string | undefined
  /** The git worktree that the client works in: a name of its project, and where files to attach are. */
  readonly worktree?: string | undefined
}

const agentsById = memory(() => new Map<number, Agent>())

/** The agent of a key. Agents are never renamed. */
export async function needKeyed(hub: Hub, agentId: number): Promise<Agent> {
  const before = agentsById(hub).get(agentId)
  if (before !== undefined) return before
  const row = await findOwned(reader(hub), agentId)
  if (row === undefined) throw new HubError('AGENT_NOT_FOUND', 'The agent of this key no longer exists.')
  return remember(agentsById(hub), row.id, { id: row.id, projectId: row.project_id, name: row.name })
}

/** The project of a call at the doors that know none: as told, else that of the credential, else the common one. */
export async function projectOfCall(hub: Hub, caller: Caller, told: string | undefined): Promise<string> {
  const me = agentOf(caller)
  if (told !== undefined || me === undefined) return told ?? commons
  return me.unmade?.project ?? slugOfProject(hub, me.projectId)
}

/** Throws where a credential and the connection name two agents or two projects (identity.credential.rules). */
export async function findSelf(hub: Hub, caller: Caller, { name, project }: Said): Promise<Self> {
  const me = agentOf(caller)
  if (me !== undefined) return selfOfCredential(hub, caller, me, { name, project })
  return project === undefined ? { name } : inFolder(hub, caller, { name }, project)
}

async function selfOfCredential(hub: Hub, caller: Caller, me: AgentCaller, said: Said): Promise<Self> {
  const { unmade } = me
  const own = unmade?.name ?? (await needKeyed(hub, me.agentId)).name
  if (said.name !== undefined && nameKey(said.name) !== nameKey(own))
    throw contradiction(
      `Your key or token is that of ${JSON.stringify(own)}, and the connection calls you ${JSON.stringify(echo(said.name))}.`,
      `The key decides. Take the name out of the header X-Parley-Agent or the URL, or use the key of ${echo(said.name)}.`,
    )
  const project = unmade?.project ?? (await slugOfProject(hub, me.projectId))
  if (said.project !== undefined && !(await isSameProject(hub, caller, said.project, project)))
    throw contradiction(
      `Your key or token is for an agent of the project ${project}, and ?project= on the URL names another.`,
      'The key decides. Take ?project= out of the URL, or use the key of an agent of that project.',
    )
  return { name: own, project: (await findProjectCalled(hub, project))?.key ?? project }
}

/** The same with the folder that a client works in, which moves nobody who has a key. */
export async function selfInFolder(hub: Hub, caller: Caller, self: Self, folder: string): Promise<Self> {
  return agentOf(caller) === undefined ? inFolder(hub, caller, self, folder) : self
}

/** By a folder, or by the slug or key of a project. */
async function inFolder(hub: Hub, caller: Caller, self: Self, folder: string): Promise<Self> {
  const { place, note, worktree } = await projectOfFolder(hub, caller, folder)
  return { ...self, project: isNew(place) ? place.newKey : place.key, note, worktree }
}

async function keyOf(hub: Hub, caller: Caller, slugOrKey: string): Promise<string> {
  const place = await findPlace(hub, caller, slugOrKey)
  return isNew(place) ? place.newKey : place.key
}

/** Whether two names mean one project, which need not exist yet. */
export async function isSameProject(hub: Hub, caller: Caller, one: string, other: string): Promise<boolean> {
  if (one === other || tidyKey(one) === tidyKey(other)) return true
  try {
    return (await keyOf(hub, caller, one)) === (await keyOf(hub, caller, other))
  } catch (error) {
    if (error instanceof HubError && error.code === 'PROJECT_NOT_FOUND') return false
    throw error
  }
}

const contradiction = (message: string, hint: string): HubError =>
  new HubError('FORBIDDEN', message, { reason: 'contradicted', hint })

/** The facts that an agent is told of itself before its first call. */
export interface Standing {
  readonly name: string
  readonly project: string
  /** `new`: nobody has this name yet. `foreign`: it belongs to the holder of a key, who is not calling. */
  readonly is: 'there' | 'new' | 'foreign'
  readonly unread: number
}

/** Undefined where the connection does not tell both the agent and the project. */
export async function findStanding(hub: Hub, caller: Caller, said: Said): Promise<Standing | undefined> {
  const { name, project } = await findSelf(hub, caller, said)
  if (name === undefined || project === undefined) return undefined
  const unmet = { name, project, is: 'new', unread: 0 } as const
  if ((await findProjectCalled(hub, project, homeOf(caller))) === undefined) return unmet
  const { id } = await needProject(hub, caller, project)
  const agent = await findIn(hub, id, name)
  if (agent === undefined) return unmet
  const owned = { ...agent, keyed: await keyedNow(hub, agent) }
  if (!mayActAs(caller, owned)) return { name: agent.name, project, is: 'foreign', unread: 0 }
  const row = await findProfile(reader(hub), id, nameKey(name))
  return { name: agent.name, project, is: 'there', unread: row?.unread ?? 0 }
}
