/** Search in all that is in the caller's sight: a project's threads, and open messages between its agents and others'. */
import { limits } from '../../base/limits.ts'
import { listThreadStates, listTold } from '../../store/threads/summaries.ts'
import type { ProjectSight } from '../../store/visibility.ts'
import type { Caller } from '../access/callers.ts'
import { sightOf } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { MailMessage } from '../mail/messages.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { findReader } from './filters.ts'
import { type Found, type Hit, type Searching, search, searchLimits } from './search.ts'

export interface AskedAs extends Pick<Searching, 'query' | 'limit'> {
  /** The agent that the connection names. */
  readonly as?: string | undefined
}

interface ProjectHit extends Hit {
  readonly from: MailMessage['from']
}

export async function searchProject(
  hub: Hub,
  caller: Caller,
  project: string,
  { query, limit = searchLimits.usual, as }: AskedAs,
): Promise<Omit<Found, 'hits'> & { readonly hits: readonly ProjectHit[] }> {
  const { id: projectId } = await needProject(hub, caller, project)
  const sight = sightOf(caller, projectId)
  const first = await listInThread(hub, sight, { key: query.trim(), limit: limit + 1 })
  const found = await search(
    hub,
    { sight },
    { query, limit, first, reader: await findReader(hub, caller, projectId, as) },
  )
  const hits: ProjectHit[] = []
  for (const hit of found.hits) {
    const { sender: name, senderProject } = hit
    const slug = senderProject === projectId ? undefined : await slugOfProject(hub, senderProject)
    hits.push({ ...hit, from: { name, project: slug } })
  }
  return { ...found, hits }
}

/** A query that is the name of a thread finds its messages, whatever their words; the newest first (mail.search.key-alone). */
async function listInThread(
  hub: Hub,
  sight: ProjectSight,
  { key, limit }: { key: string; limit: number },
): Promise<readonly number[]> {
  if (key === '' || key.length > 2 * limits.threadKeyLength) return []
  const ids: number[] = []
  for (const { id: threadId, project_id } of await listThreadStates(reader(hub), sight, key)) {
    const guest = project_id !== sight.projectId
    ids.push(...(await listTold(reader(hub), { threadId, sight, guest, length: 0, limit })).map(({ id }) => id))
  }
  return ids.sort((a, b) => b - a).slice(0, limit)
}
