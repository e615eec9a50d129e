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

/** The newest message of each thread, with how many there are and what the thread is called. */
export async function listAllThreads(
  hub: Hub,
  caller: Caller,
  { project, before, limit }: AllThreadsWish,
): Promise<Page<PageMessage & { readonly count: number; readonly title: string | undefined }>> {
  const sight = pageSight(caller)
  const home = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  const projectId = home ?? homeOf(caller)
  const last = await listLast(reader(hub), { projectId, below: before, limit: limit + 1 })
  const page = pageOf(last, limit, ({ last_id }) => last_id)
  const counts = await listThreadCounts(
    reader(hub),
    page.items.map(({ thread_id }) => thread_id),
    sight,
  )
  const ids = new Map(page.items.map(({ thread_id, last_id }) => [last_id, thread_id]))
  const titles = await listFirstSubjects(reader(hub), [...ids.values()], sight)
  const byMessage = new Map(page.items.map(({ thread_id, last_id }) => [last_id, counts.get(thread_id) ?? 1]))
  const messages = await listPageMessages(
    hub,
    sight,
    page.items.map(({ last_id }) => last_id),
  )
  return {
    items: messages.map((message) => ({
      ...message,
      count: byMessage.get(message.id) ?? 1,
      title: message.topic ?? titles.get(ids.get(message.id) ?? 0),
    })),
    next: page.next,
  }
}
