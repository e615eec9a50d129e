/** The agents that wait now, by name: in all processes of the store. */
import { listAgentsById } from '../../store/agents/agents.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'
import { type Standing, whoWaits } from './presence.ts'

interface WaitingAgent extends Standing {
  readonly name: string
  /** The slug of its project. */
  readonly project: string
}

/** In the order of their names. A caller that knows one project only is told of that. */
export async function listWaiting(hub: Hub, caller: Caller): Promise<WaitingAgent[]> {
  const present = await whoWaits(hub)
  const home = homeOf(caller)
  const found: WaitingAgent[] = []
  for (const { id, name, project_id } of await listAgentsById(reader(hub), present.ids())) {
    const standing = present.of(id)
    if (standing === undefined || (home !== undefined && home !== project_id)) continue
    found.push({ ...standing, name, project: await slugOfProject(hub, project_id) })
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1))
}
