/** Search in the topics of a project, or in one of them; never in anybody's mail. */
import type { Caller } from '../access/callers.ts'
import type { Hub } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { needTopic } from '../topics/topics.ts'
import { type Found, type Searching, search } from './search.ts'

export async function searchTopics(
  hub: Hub,
  caller: Caller,
  project: string,
  { topicUid, ...what }: Searching & { topicUid?: string | undefined },
): Promise<Found> {
  if (topicUid !== undefined)
    return search(hub, { threadId: (await needTopic(hub, caller, project, topicUid)).id }, what)
  return search(hub, { projectId: (await needProject(hub, caller, project)).id, topics: true }, what)
}
