/** The address of an agent: its name for those of its own project, and with its project for all others. */
import type { Agent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'

export const addressFrom = async (
  hub: Hub,
  reader: Pick<Agent, 'projectId'>,
  { projectId, name }: Pick<Agent, 'projectId' | 'name'>,
): Promise<string> => (projectId === reader.projectId ? name : `${name}@${await slugOfProject(hub, projectId)}`)
