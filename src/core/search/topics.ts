/** Search in the topics of a project, or in one of them; never in anybody's mail. */
import type { Caller } from '../access/callers.ts'
import type { Hub } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { needTopic } from '../topics/topics.ts'
import { findReader } from './filters.ts'
import type { AskedAs } from './project.ts'
import { type Found, search } from './search.ts'

export async function searchTopics(
  hub: Hub,
  caller: Caller,
  project: string,
  { topicUid, as, ...what }: AskedAs & { readonly topicUid?: string | undefined },
): Promise<Found> {
  const { id: projectId } = await needProject(hub, caller, project)
  const wish = { ...what, reader: await findReader(hub, caller, projectId, as) }
  if (topicUid === undefined) return search(hub, { projectId, topics: true }, wish)
  return search(hub, { threadId: (await needTopic(hub, caller, project, topicUid)).id }, wish)
}
