/** Search in all that is in the caller's sight: a project's threads, and open messages between its agents and others'. */
import type { Caller } from '../access/callers.ts'
import { sightOf } from '../access/rules.ts'
import type { Hub } from '../hub/hub.ts'
import type { MailMessage } from '../mail/messages.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { type Hit, type Searching, search } from './search.ts'

/** No query is too long: of a long one only the beginning is read, for only its first words count. */
const queryLength = 10_000

export interface ProjectHit extends Hit {
  readonly from: MailMessage['from']
}

export async function searchProject(
  hub: Hub,
  caller: Caller,
  project: string,
  { query, limit }: Searching,
): Promise<ProjectHit[]> {
  const { id: projectId } = await needProject(hub, caller, project)
  const scope = { sight: sightOf(caller, projectId) }
  const hits: ProjectHit[] = []
  for (const hit of await search(hub, scope, { query: query.slice(0, queryLength), limit })) {
    const { sender: name, senderProject } = hit
    const slug = senderProject === projectId ? undefined : await slugOfProject(hub, senderProject)
    hits.push({ ...hit, from: { name, project: slug } })
  }
  return hits
}
