/** Binding: which agent a session of a client is, by what it says of itself and by what it has done. */
import { isAbsolutePath, nameKey } from '../../base/names.ts'
import { type ClientSessionRow, upsertSessions } from '../../store/client-sessions.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, mayActAs, needWriting } from '../access/rules.ts'
import { type Acting, findActor } from '../agents/acting.ts'
import { type Agent, findIn, isNewcomer, keyedNow } from '../agents/agents.ts'
import { findSelf, needKeyed, projectOfCall } from '../agents/connection.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { projectOfFolder } from '../projects/folders.ts'
import { isNew, slugOfProject } from '../projects/projects.ts'
import { agentsOfSession, type ClientSession, keepSession, sessionsChannel } from './sessions.ts'

/** The facts that a hook or a waiter tells of itself. */
export interface HookSaid extends ClientSession {
  readonly name?: string | undefined
  readonly project?: string | undefined
  /** The folder that its client works in. */
  readonly folder?: string | undefined
}

export interface HookAgent {
  readonly name: string
  /** A slug or a key. */
  readonly project: string
}

/**
 * The agent of a hook, or undefined where nobody knows it: that of the credential, else the one that is named, else the one that its
 * session is bound to. The project of a name is the one that is said, else that of the session, else that of the folder where an agent of
 * this name is there, else the common one. Whether the caller may act as it is asked by each verb.
 */
export async function findHookAgent(hub: Hub, caller: Caller, said: HookSaid): Promise<HookAgent | undefined> {
  if (agentOf(caller) !== undefined) {
    const { name, project } = await findSelf(hub, caller, said)
    return name === undefined || project === undefined ? undefined : { name, project }
  }
  const { name, project } = said
  if (name !== undefined && project !== undefined) return { name, project }
  const bound = await findBound(hub, caller, said)
  if (name === undefined) return bound
  if (bound !== undefined) return bound
  return {
    name,
    project: (await projectByFolder(hub, caller, said, name)) ?? (await projectOfCall(hub, caller, undefined)),
  }
}

/** The last agent of the session that the caller may act as; with a name, the last of that name. */
async function findBound(hub: Hub, caller: Caller, { name, ...of }: HookSaid): Promise<HookAgent | undefined> {
  for (const row of await agentsOfSession(hub, of)) {
    const agent = await findAllowed(hub, caller, row)
    if (agent === undefined || (name !== undefined && nameKey(agent.name) !== nameKey(name))) continue
    return { name: agent.name, project: await slugOfProject(hub, agent.projectId) }
  }
  return undefined
}

/** Undefined also where the agent is gone: its project was merged into another. */
async function findAllowed(hub: Hub, caller: Caller, { agent_id }: ClientSessionRow): Promise<Agent | undefined> {
  const { projectId, name } = await needKeyed(hub, agent_id).catch(() => ({ projectId: 0, name: '' }))
  const agent = await findIn(hub, projectId, name)
  if (agent?.id !== agent_id) return undefined
  return mayActAs(caller, { ...agent, keyed: await keyedNow(hub, agent) }) ? agent : undefined
}

async function projectByFolder(
  hub: Hub,
  caller: Caller,
  { folder }: HookSaid,
  name: string,
): Promise<string | undefined> {
  if (folder === undefined || !isAbsolutePath(folder)) return undefined
  const { place } = await projectOfFolder(hub, caller, folder)
  return isNew(place) || (await findIn(hub, place.id, name)) === undefined ? undefined : place.slug
}

/** Binds a session to the agent that it acts as, for all processes and after a restart too. The last one counts. */
export async function bindSession(hub: Hub, acting: Acting, of: ClientSession): Promise<void> {
  needWriting(acting.caller)
  if (of.session === '') return
  const agent = await findActor(hub, { ...acting, registered: true, unnoticed: true })
  if (isNewcomer(agent)) return
  const rows = await agentsOfSession(hub, of)
  const [last] = rows
  if (last?.agent_id === agent.id) return
  const now = Math.max(hub.clock.now(), ...rows.map(({ changed_at }) => changed_at + 1))
  const own = rows.find(({ agent_id }) => agent_id === agent.id)
  const { heard_at, turn_at, stops } = own ?? { heard_at: null, turn_at: null, stops: 0 }
  const changed = [{ ...of, agent_id: agent.id, bound_at: now, heard_at, turn_at, stops, ended: 0, changed_at: now }]
  // The session is another agent's from now on: the one before is reached by it no more.
  if (last !== undefined && (await findAllowed(hub, acting.caller, last)) !== undefined)
    changed.push({ ...last, turn_at: null, ended: 1, changed_at: now })
  await commit(hub, acting.caller, async (tx, note) => {
    await upsertSessions(tx, changed)
    note({ kind: 'presence.changed', projectId: agent.projectId, wakes: [sessionsChannel] })
  })
  for (const row of changed) keepSession(hub, row)
}
