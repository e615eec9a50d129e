/** Where digests stand: a thread has one in its project and in each that sees some of it; one key is one digest there. */
import { digestPart, fileName, keyFile } from '../../archive/layout.ts'
import {
  type ArchivedThreadRow,
  listArchivedThreads,
  listGuestPlaces,
  listGuestSeqs,
  listKeysAlike,
  listThreadGuests,
  listThreadsOfKey,
} from '../../store/exports/archive.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

/** A digest in the archive of a project. */
export interface Shelved {
  readonly projectId: number
  /** The thread that names it: the project's own, else the first of those that it sees. */
  readonly head: ArchivedThreadRow
  /** Threads of several projects with one key are read as one, as far as their messages came here. */
  readonly rows: readonly ArchivedThreadRow[]
  readonly parts: ReadonlySet<number>
}

/** Which parts of which threads, by their ids. */
type Parts = ReadonlyMap<number, ReadonlySet<number>>

/** The digests that changed: those of the threads themselves, and those of guests who see one of these messages. */
export async function listChanged(hub: Hub, parts: Parts, messageIds: readonly number[]): Promise<Shelved[]> {
  const threads = new Map((await listArchivedThreads(reader(hub), [...parts.keys()])).map((row) => [row.id, row]))
  const touched: { row: ArchivedThreadRow; projectId: number; parts: Iterable<number> }[] = []
  for (const row of threads.values()) touched.push({ row, projectId: row.project_id, parts: parts.get(row.id) ?? [] })
  for (const { project_id, thread_id, seq } of await listGuestPlaces(reader(hub), messageIds)) {
    const row = threads.get(thread_id)
    if (row !== undefined) touched.push({ row, projectId: project_id, parts: [digestPart(seq)] })
  }
  const shelved: Shelved[] = []
  for (const together of Map.groupBy(touched, ({ row, projectId }) => `${projectId} ${row.key ?? row.id}`).values()) {
    const [first] = together
    if (first === undefined || !hasDigest(first.row)) continue
    const digest = await shelve(hub, first.projectId, first.row)
    const changed = new Set(together.flatMap((one) => [...one.parts]))
    const also = await firstPart(hub, digest)
    if (also === undefined) continue
    shelved.push({ ...digest, parts: also === 0 ? changed : changed.add(also) })
  }
  return shelved
}

/** All digests that these threads are the first of, whole. */
export const listWhole = async (hub: Hub, rows: readonly ArchivedThreadRow[]): Promise<Shelved[]> =>
  (await listAllOf(hub, rows, { asFirst: true })).map(({ digest }) => digest)

/** All digests that have something of these threads, whole, with the thread. */
export async function listAllOf(
  hub: Hub,
  rows: readonly ArchivedThreadRow[],
  { asFirst }: { readonly asFirst: boolean },
): Promise<{ readonly threadId: number; readonly digest: Shelved }[]> {
  const shelved: { threadId: number; digest: Shelved }[] = []
  const guests = await listThreadGuests(
    reader(hub),
    rows.map(({ id }) => id),
  )
  for (const row of rows) {
    if (!hasDigest(row)) continue
    const guestIds = guests.filter(({ thread_id }) => thread_id === row.id).map(({ project_id }) => project_id)
    for (const projectId of [row.project_id, ...guestIds]) {
      const digest = await shelve(hub, projectId, row)
      if ((asFirst && digest.head.id !== row.id) || (await firstPart(hub, digest)) === undefined) continue
      shelved.push({ threadId: row.id, digest: { ...digest, parts: await partsOf(hub, digest) } })
    }
  }
  return shelved
}

/** A message that nobody has answered and that names no thread is its own page. */
const hasDigest = ({ name, key, next_seq }: ArchivedThreadRow): boolean => name !== null || key !== null || next_seq > 2

async function shelve(hub: Hub, projectId: number, row: ArchivedThreadRow): Promise<Omit<Shelved, 'parts'>> {
  const rows =
    row.key === null || row.name !== null ? [row] : await listThreadsOfKey(reader(hub), { projectId, key: row.key })
  const head = rows.find(({ project_id }) => project_id === projectId) ?? rows[0] ?? row
  return { projectId, head, rows }
}

/**
 * A guest of a thread without a key has a digest once it sees a second message of it: the part with the first one is
 * written then too. 0 where nothing is missing, undefined where there is no digest.
 */
async function firstPart(hub: Hub, { projectId, head }: Omit<Shelved, 'parts'>): Promise<number | undefined> {
  if (head.project_id === projectId || head.key !== null) return 0
  const [first, second] = await listGuestSeqs(reader(hub), { projectId, threadId: head.id })
  return first === undefined || second === undefined ? undefined : digestPart(first)
}

async function partsOf(hub: Hub, { projectId, rows }: Omit<Shelved, 'parts'>): Promise<ReadonlySet<number>> {
  const parts = new Set<number>()
  for (const { id: threadId, project_id, next_seq } of rows) {
    if (project_id === projectId) for (let n = Math.max(1, digestPart(next_seq - 1)); n > 0; n--) parts.add(n)
    else for (const seq of await listGuestSeqs(reader(hub), { projectId, threadId })) parts.add(digestPart(seq))
  }
  return parts
}

export const nameOf = ({ name, key, uid, first_id }: ArchivedThreadRow): string =>
  name === null ? (key ?? String(first_id)) : uid

const files = memory(() => new Map<string, string>())

const place = ({ projectId, head }: Pick<Shelved, 'projectId' | 'head'>): string =>
  head.project_id === projectId ? String(head.id) : `guest ${head.key}`

/** The name of its files. */
export const fileOf = (hub: Hub, digest: Shelved): string =>
  files(hub).get(place(digest)) ?? fileName(nameOf(digest.head))

/** A name stays with a thread: of two that differ only in case, the first has it as it is; for guests, the first of all. */
export async function learnFiles(hub: Hub, digests: readonly Shelved[]): Promise<void> {
  const known = files(hub)
  const named = digests.filter(
    (digest) => digest.head.key !== null && digest.head.name === null && !known.has(place(digest)),
  )
  if (named.length === 0) return
  const alike = await listKeysAlike(
    reader(hub),
    named.map(({ head }) => head.key ?? ''),
  )
  const byName = Map.groupBy(alike, ({ key }) => key.toLowerCase())
  for (const digest of named) {
    const { key, project_id } = digest.head
    const all = byName.get(key?.toLowerCase() ?? '') ?? []
    const among = project_id === digest.projectId ? all.filter((other) => other.project_id === project_id) : all
    const first = Math.min(...among.filter((other) => other.key === key).map(({ id }) => id))
    const clash = among.some((other) => other.id < first && other.key !== key)
    remember(known, place(digest), keyFile(key ?? '', clash))
  }
}
