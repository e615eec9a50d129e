/** The unified inbox: mail and words in topics of all projects, newest first, one by one or a row for each thread. */
import { listLast } from '../../store/mail/boxes.ts'
import { listMailIds } from '../../store/pages/message-lists.ts'
import { listFirstSubjects, listThreadCounts } from '../../store/pages/threads.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, pageSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Importance } from '../messages/send.ts'
import { needProject } from '../projects/projects.ts'
import { idsCalled } from '../search/filters.ts'
import { listPageMessages, type Page, type PageMessage, pageOf } from './page-message.ts'

export interface AllMailWish {
  /** Slug or key. */
  readonly project?: string | undefined
  /** A name, or Name@slug. */
  readonly from?: string | undefined
  readonly importance?: Importance | undefined
  readonly unread?: boolean | undefined
  /** Only messages with a lower id, or with a higher one. */
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly limit: number
}

/** `prev` is there if newer messages are: pass it as `after`. */
export async function listAllMail(
  hub: Hub,
  caller: Caller,
  { project, from, importance, unread, before, after, limit }: AllMailWish,
): Promise<Page<PageMessage> & { readonly prev: number | undefined }> {
  const sight = pageSight(caller)
  const projectId = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  const senderIds = from === undefined ? undefined : await idsCalled(hub, from)
  const filter = { projectId, senderIds, importance, unread }
  const ids = await listMailIds(reader(hub), sight, { ...filter, above: after, below: before, limit: limit + 1 })
  const forward = after !== undefined && before === undefined
  const shown = forward ? ids.slice(0, limit).reverse() : ids.slice(0, limit)
  const first = shown[0]
  const last = shown.at(-1)
  const items = await listPageMessages(hub, sight, shown)
  const newer = first !== undefined && (forward ? ids.length > limit : before !== undefined)
  const older = last !== undefined && (forward || ids.length > limit)
  return { items, next: older ? last : undefined, prev: newer ? first : undefined }
}

interface AllThreadsWish {
  readonly project?: string | undefined
  readonly before?: number | undefined
  readonly limit: number
}

type NewestOfThread = PageMessage & { readonly title: string | undefined }

/** The newest message of each thread, with what the thread is called. */
export async function listNewestThreads(
  hub: Hub,
  caller: Caller,
  { project, before, limit }: AllThreadsWish,
): Promise<Page<NewestOfThread>> {
  const sight = pageSight(caller)
  const home = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  const projectId = home ?? homeOf(caller)
  const last = await listLast(reader(hub), { projectId, below: before, limit: limit + 1 })
  const { items, next } = pageOf(last, limit, ({ last_id }) => last_id)
  const threadIds = items.map(({ thread_id }) => thread_id)
  const titles = await listFirstSubjects(reader(hub), threadIds, sight)
  const ids = items.map(({ last_id }) => last_id)
  const messages = await listPageMessages(hub, sight, ids)
  return {
    items: messages.map((message) => ({ ...message, title: message.topic ?? titles.get(message.threadId) })),
    next,
  }
}

/** The same, with how many messages there are. */
export async function listAllThreads(
  hub: Hub,
  caller: Caller,
  wish: AllThreadsWish,
): Promise<Page<NewestOfThread & { readonly count: number }>> {
  const { items, next } = await listNewestThreads(hub, caller, wish)
  const ids = items.map(({ threadId }) => threadId)
  const counts = await listThreadCounts(reader(hub), ids, pageSight(caller))
  return { items: items.map((item) => ({ ...item, count: counts.get(item.threadId) ?? 1 })), next }
}
