/** The address of an agent: its name for those of its own project, and with its project for all others. */
import type { Agent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'

export const addressFrom = async (
  hub: Hub,
  reader: Pick<Agent, 'projectId'>,
  { projectId, name }: Pick<Agent, 'projectId' | 'name'>,
): Promise<string> => (projectId === reader.projectId ? name : `${name}@${await slugOfProject(hub, projectId)}`)

/** The slugs of the projects that are not the reader's own, by their ids. */
export async function slugsOf(
  hub: Hub,
  home: number,
  projectIds: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const slugs = new Map<number, string>()
  for (const id of projectIds) if (id !== home && !slugs.has(id)) slugs.set(id, await slugOfProject(hub, id))
  return slugs
}
