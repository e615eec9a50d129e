/** Which files of the archives old mail has: said in the feed when the mail goes, because afterwards no row can be asked. */
import { digestPath } from '../../archive/layout.ts'
import { listArchivedThreads, listThreadsOfKey } from '../../store/exports/archive.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { homeOf } from './commits-by-project.ts'
import { fileOf, learnFiles, listAllOf, listWhole, type Shelved } from './digest-locations.ts'
import { messageCommits } from './messages.ts'

/** In the archive of one project. */
export interface Leaving {
  readonly projectId: number
  readonly threadId: number
  readonly paths: ReadonlySet<string>
  /** Files of messages: other messages may have them too. */
  readonly stored: ReadonlySet<string>
  /** Names of threads: other threads of the name may go on in the same digest. */
  readonly keys: ReadonlySet<string>
}

export interface LeavingThread {
  readonly id: number
  readonly messageIds: readonly number[]
  /** The projects whose archives may have something of it. */
  readonly projectIds: readonly number[]
}

export async function listLeaving(hub: Hub, threads: readonly LeavingThread[]): Promise<Leaving[]> {
  const ids = threads.map(({ id }) => id)
  const rows = await listArchivedThreads(reader(hub), ids)
  const digests = await listAllOf(hub, rows, { asFirst: false })
  await learnFiles(
    hub,
    digests.map(({ digest }) => digest),
  )
  const commits = await messageCommits(
    hub,
    threads.flatMap(({ messageIds }) => messageIds),
  )
  const leaving: Leaving[] = []
  for (const { id: threadId, messageIds, projectIds } of threads)
    for (const projectId of projectIds) {
      const { slug } = await homeOf(hub, projectId)
      const own = messageIds.flatMap((id) => commits.get(id)?.get(slug) ?? [])
      const shown = digests.filter((one) => one.threadId === threadId && one.digest.projectId === projectId)
      leaving.push({
        projectId,
        threadId,
        paths: new Set([
          ...own.flatMap(({ files }) => files.map(({ path }) => path)),
          ...shown.flatMap(({ digest }) => [...digest.parts].map((part) => digestPath(fileOf(hub, digest), part))),
        ]),
        stored: new Set(own.flatMap(({ stored = [] }) => stored.map(({ path }) => path))),
        keys: new Set(shown.flatMap(({ digest }) => digest.head.key ?? [])),
      })
    }
  return leaving
}

/** As the feed keeps it. */
interface Detail {
  readonly paths: readonly string[]
  readonly keys: readonly string[]
}

export const toDetail = (detail: Detail): string => JSON.stringify(detail)

export const readDetail = (detail: string): Detail => JSON.parse(detail) as Detail

/** The digests of these names that threads of others, or newer ones, still have in a project. */
export async function listRemaining(hub: Hub, projectId: number, keys: readonly string[]): Promise<Shelved[]> {
  const remaining: Shelved[] = []
  for (const key of keys) {
    const rows = await listThreadsOfKey(reader(hub), { projectId, key })
    for (const digest of await listWhole(hub, rows)) if (digest.projectId === projectId) remaining.push(digest)
  }
  return remaining
}
