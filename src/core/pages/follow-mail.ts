/** All mail as it comes, for people who watch: each message once, in the order in which it was committed. */

import type { FeedRow } from '../../store/feed/changes.ts'
import { start } from '../../store/feed/positions.ts'
import { isInProject } from '../../store/pages/page-messages.ts'
import { listThreadsNamed } from '../../store/pages/threads.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { joinTail, type TailReader } from '../feed/tail.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject, type Project } from '../projects/projects.ts'
import { noThread } from '../threads/mail-threads.ts'
import { listPageMessages, type PageMessage } from './page-message.ts'

export interface FollowWish {
  readonly project?: string | undefined
  /** A thread of the project, by its key, its uid or the id of its first message. */
  readonly thread?: string | undefined
  /** The next message waits until this one is told. */
  readonly tell: (message: PageMessage) => Promise<void>
}

/** The project and the threads of it that are followed; undefined for all. */
export async function findFollowed(
  hub: Hub,
  caller: Caller,
  { project, thread }: Pick<FollowWish, 'project' | 'thread'>,
): Promise<{ home?: Project; threads?: ReadonlySet<number> }> {
  if (project === undefined) return {}
  const home = await needProject(hub, caller, project)
  if (thread === undefined) return { home }
  const threads = await listThreadsNamed(reader(hub), home.id, thread)
  if (threads.length === 0) throw noThread(home, thread)
  return { home, threads: new Set(threads.map(({ id }) => id)) }
}

/** Resolves once every message committed from then on will be told; the returned function ends it. Nothing is marked as read. */
export async function followMail(hub: Hub, caller: Caller, { project, thread, tell }: FollowWish): Promise<() => void> {
  const { home, threads } = await findFollowed(hub, caller, { project, thread })
  const sight = pageSight(caller)

  async function take({ kind, message_id: id, thread_id: threadId }: FeedRow): Promise<void> {
    if (id === null || (kind !== 'message.sent' && kind !== 'message.said')) return
    if (threads !== undefined && !(threadId !== null && threads.has(threadId))) return
    if (home !== undefined && !(await isInProject(reader(hub), id, home.id))) return
    const [message] = await listPageMessages(hub, sight, [id])
    if (message !== undefined) await tell(message)
  }

  const following: TailReader = { position: start, take }
  return joinTail(hub, following)
}
