/** Threads and topics of a project as people see them: the list, and one conversation from its end. */
import { listLast } from '../../store/mail/boxes.ts'
import {
  findAfter,
  listGuestIds,
  listParticipants,
  listSilentTopics,
  listSynced,
  listThreadCounts,
  listThreadIds,
  listThreadRows,
  listThreadsNamed,
  type PartRow,
  type ThreadFilter,
  type ThreadRow,
} from '../../store/pages/threads.ts'
import type { Sight } from '../../store/visibility.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { activity } from '../agents/activity.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { whoWaits } from '../presence/presence.ts'
import { needProject } from '../projects/projects.ts'
import { noThread } from '../threads/mail-threads.ts'
import {
  listPageMessages,
  listWithRows,
  type MessageWithRows,
  type Page,
  type PageMessage,
  pageOf,
  slugsOf,
  type Who,
} from './page-message.ts'

export interface PageThread {
  /** Its name in a URL: the key, the uid of a topic, or the id of its first message. */
  readonly id: string
  readonly key: string | undefined
  /** The name of a topic. */
  readonly topic: string | undefined
  readonly subject: string
  readonly status: 'open' | 'closed'
  /** The participants of its newest messages, the latest first; a dozen at most. */
  readonly participants: readonly Who[]
  readonly count: number
  /** Undefined for a topic without a message. */
  readonly last: PageMessage | undefined
  readonly sealed: boolean
}

interface ThreadsWish {
  readonly status?: 'open' | 'closed' | 'all' | undefined
  readonly kind?: 'mail' | 'topic' | undefined
  readonly q?: string | undefined
  readonly before?: number | undefined
  readonly limit: number
}

/** So many of the newest messages say who takes part. */
const newestAsked = 10
const mostNamed = 12

/** By their newest message, the newest first; after the last of these, topics in which nobody has said anything. */
export async function listThreads(
  hub: Hub,
  caller: Caller,
  project: string,
  { status = 'all', kind, q, before, limit }: ThreadsWish,
): Promise<Page<PageThread>> {
  const { id: projectId } = await needProject(hub, caller, project)
  const sight = pageSight(caller)
  const filter: ThreadFilter = {
    status: status === 'all' ? undefined : status,
    kind,
    q: q === undefined ? undefined : { text: q.trim(), sight },
  }
  const found = await listLast(reader(hub), { projectId, below: before, filter, limit: limit + 1 })
  const { items, next } = pageOf(found, limit, ({ last_id }) => last_id)
  const rows = await listThreadRows(
    reader(hub),
    items.map(({ thread_id }) => thread_id),
  )
  const listed = items.flatMap(({ thread_id }) => rows.get(thread_id) ?? [])
  const room = next === undefined ? limit - listed.length : 0
  if (room > 0 && kind !== 'mail')
    listed.push(...(await listSilentTopics(reader(hub), { projectId, filter, limit: room })))
  return { items: await describe(hub, sight, listed), next }
}

/** Threads of which nothing is in sight are left out. */
export async function describe(hub: Hub, sight: Sight, rows: readonly ThreadRow[]): Promise<PageThread[]> {
  const messages = await listPageMessages(hub, sight, [...new Set(rows.flatMap(endsOf))])
  const parts = await participantsOf(hub, sight, rows)
  return described(rows, { messages, parts, counts: await countsOf(hub, sight, rows) })
}

/** The messages that a thread is described by. */
const endsOf = ({ first_id, last_id }: ThreadRow): number[] => [first_id, last_id].filter((id) => id !== null)

interface Known {
  /** With the ends of each thread, as far as they are in sight. */
  readonly messages: readonly PageMessage[]
  readonly parts: ReadonlyMap<number, readonly Part[]>
  readonly counts: ReadonlyMap<number, number>
}

function described(rows: readonly ThreadRow[], { messages: all, parts, counts }: Known): PageThread[] {
  const messages = new Map(all.map((message) => [message.id, message]))
  return rows.flatMap((row) => {
    const last = messages.get(row.last_id ?? 0)
    const first = messages.get(row.first_id ?? 0) ?? last
    if (last === undefined && row.name === null) return []
    const { key, name, uid, first_id } = row
    return [
      {
        id: key ?? (name === null ? String(first_id) : uid),
        key: key ?? undefined,
        topic: name ?? undefined,
        subject: name ?? first?.subject ?? '',
        status: row.status,
        participants: (parts.get(row.id) ?? []).slice(0, mostNamed).map(({ name, project }) => ({ name, project })),
        count: counts.get(row.id) ?? 0,
        last,
        sealed: first?.sealed ?? false,
      },
    ]
  })
}

const countsOf = (hub: Hub, sight: Sight, rows: readonly ThreadRow[]) =>
  listThreadCounts(
    reader(hub),
    rows.map(({ id }) => id),
    sight,
  )

type Part = PartRow & { readonly project: string }

async function participantsOf(
  hub: Hub,
  sight: Sight,
  rows: readonly ThreadRow[],
): Promise<ReadonlyMap<number, Part[]>> {
  if (rows.length === 0) return new Map()
  const found = await listParticipants(
    reader(hub),
    rows.map(({ id }) => id),
    { newest: newestAsked, sight },
  )
  const slugs = await slugsOf(
    hub,
    found.map(({ project_id }) => project_id),
  )
  const parts = found.map((row) => ({ ...row, project: slugs.get(row.project_id) ?? '' }))
  return Map.groupBy(parts, ({ thread_id }) => thread_id)
}

interface Participant extends Who {
  readonly activeAt: number
  /** When it last synced a topic. */
  readonly seenAt: number | undefined
  /** Whether it waits right now for something new. */
  readonly waiting: boolean
}

interface ThreadMessage extends PageMessage {
  /** Its beginning; undefined where it is sealed. */
  readonly body: string | undefined
  readonly bodyCut: boolean
  readonly replyTo: number | undefined
}

export interface ShownThread extends Omit<PageThread, 'participants' | 'last'> {
  readonly project: string
  readonly closeReason: string | undefined
  readonly participants: readonly Participant[]
  /** In their order. */
  readonly messages: readonly ThreadMessage[]
  /** Pass it as `before` for those that came earlier. */
  readonly next: number | undefined
  /** Pass it as `after` for those that came later; undefined at the end of the thread. */
  readonly later: number | undefined
}

export interface ThreadPlace {
  readonly thread: string
  /** Only messages with a lower id, or with a higher one. */
  readonly before?: number | undefined
  readonly after?: number | undefined
  /** The page that has this message. */
  readonly at?: number | undefined
  readonly limit?: number | undefined
}

/** Bodies up to this length are shown in a thread; longer ones on the page of their message. */
const bodyLength = 65_536

/**
 * The newest messages of a conversation. Threads of several projects with one key are read as one, as far as they came here
 * (mail.thread.projects). An agent sees its own part in it.
 */
export async function showThread(
  hub: Hub,
  caller: Caller,
  project: string,
  { thread, limit = 50, ...from }: ThreadPlace,
): Promise<ShownThread> {
  const home = await needProject(hub, caller, project)
  const sight = pageSight(caller)
  const rows = await listThreadsNamed(reader(hub), home.id, thread)
  const ids: number[] = []
  const { after } = from
  const before = from.before ?? (await endAround(hub, rows, from.at, limit))
  for (const { id: threadId, project_id } of rows) {
    const page = { threadId, before, after, limit: limit + 1 }
    ids.push(
      ...(project_id === home.id
        ? await listThreadIds(reader(hub), page)
        : await listGuestIds(reader(hub), { projectId: home.id, ...page })),
    )
  }
  const sorted = ids.sort((a, b) => (after === undefined ? b - a : a - b))
  const { items, next: further } = pageOf(sorted, limit, (id) => id)
  const shown = after === undefined ? items.toReversed() : items
  const [row] = rows
  const ends = row === undefined ? [] : endsOf(row)
  const read = await listWithRows(hub, sight, [...new Set([...shown, ...ends])], { length: bodyLength })
  const seen = read.filter(({ message: { id } }) => shown.includes(id))
  const parts = await participantsOf(hub, sight, rows)
  const counts = await countsOf(hub, sight, rows.slice(0, 1))
  const [whole] = described(rows.slice(0, 1), { messages: read.map(({ message }) => message), parts, counts })
  // Only the end of a thread may be in sight of an agent, and the other half of a message in a foreign one.
  const about = whole ?? (row !== undefined && seen.length > 0 ? undescribed(row, seen, counts) : undefined)
  if (row === undefined || about === undefined || (seen.length === 0 && row.name === null && before === undefined))
    throw noThread(home, thread)
  const { last: _, ...told } = about
  return {
    ...told,
    project: home.slug,
    closeReason: row.close_reason ?? undefined,
    participants: await present(hub, row, [...parts.values()].flat()),
    messages: seen.map(toThreadMessage),
    next: after === undefined ? further : shown[0],
    later: after === undefined ? (before === undefined ? undefined : shown.at(-1)) : further,
  }
}

/** The message before which a page ends that has this one in its middle; undefined where the newest page has it. */
async function endAround(
  hub: Hub,
  rows: readonly ThreadRow[],
  at: number | undefined,
  limit: number,
): Promise<number | undefined> {
  if (at === undefined) return undefined
  for (const { id } of rows) {
    if ((await findAfter(reader(hub), id, at, limit)) === undefined) continue
    return findAfter(reader(hub), id, at, Math.ceil(limit / 2))
  }
  return undefined
}

const undescribed = (
  { id, uid, key, name, status, first_id }: ThreadRow,
  [first]: readonly MessageWithRows[],
  counts: ReadonlyMap<number, number>,
): PageThread => ({
  id: key ?? (name === null ? String(first_id) : uid),
  key: key ?? undefined,
  topic: name ?? undefined,
  subject: first?.message.subject ?? '',
  status,
  participants: [],
  count: counts.get(id) ?? 0,
  last: undefined,
  sealed: first?.message.sealed ?? false,
})

const toThreadMessage = ({ message, row }: MessageWithRows): ThreadMessage => ({
  ...message,
  body: message.sealed ? undefined : row.body,
  bodyCut: row.body_length > bodyLength,
  replyTo: row.reply_to ?? undefined,
})

async function present(hub: Hub, { id, name }: ThreadRow, parts: readonly Part[]): Promise<Participant[]> {
  const there = name === null ? new Map<number, never>() : await listSynced(reader(hub), id)
  const waits = await whoWaits(hub)
  return [...new Map(parts.map((part) => [part.id, part])).values()].map((part) => {
    return {
      name: part.name,
      project: part.project,
      activeAt: activity(hub).latest(part.id, part.active_at),
      seenAt: there.get(part.id),
      waiting: waits.of(part.id)?.waiting === true,
    }
  })
}
