/** All mail as it comes, for people who watch: each message once, in the order in which it was committed. */

import { type FeedRow, listFeedAfter } from '../../store/feed/changes.ts'
import { type FeedPosition, isBefore, start } from '../../store/feed/positions.ts'
import { isInProject } from '../../store/pages/page-messages.ts'
import { listThreadsNamed } from '../../store/pages/threads.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { readPlace, writePlace } from '../feed/position-tokens.ts'
import { joinTail, type TailReader } from '../feed/tail.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject, type Project } from '../projects/projects.ts'
import { noThread } from '../threads/mail-threads.ts'
import { listPageMessages, type PageMessage } from './page-message.ts'

interface FollowWish {
  readonly project?: string | undefined
  /** A thread of the project, by its key, its uid or the id of its first message. */
  readonly thread?: string | undefined
  /** The place of the last message that was told before: what came since then is told first. */
  readonly since?: string | undefined
  /** The next message waits until this one is told. `place`: to go on from it later. */
  readonly tell: (message: PageMessage, place: string) => Promise<void> | void
}

/** So many changes are read at a time by a follower that comes back. */
const page = 500

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

interface Following {
  /** Where it began: for a follower that is cut off before the first message. */
  readonly place: string
  leave(): void
}

/** Resolves once every message committed from then on will be told. Nothing is marked as read. */
export async function followMail(hub: Hub, caller: Caller, wish: FollowWish): Promise<Following> {
  const { since, tell } = wish
  const { home, threads } = await findFollowed(hub, caller, wish)
  const sight = pageSight(caller)

  async function hand({ kind, message_id: id, thread_id: threadId, ...place }: FeedRow): Promise<void> {
    if (id === null || (kind !== 'message.sent' && kind !== 'message.said')) return
    if (threads !== undefined && !(threadId !== null && threads.has(threadId))) return
    if (home !== undefined && !(await isInProject(reader(hub), id, home.id))) return
    const [message] = await listPageMessages(hub, sight, [id])
    if (message !== undefined) await tell(message, writePlace(place))
  }

  // While it catches up, the tail does not wait for it: others read there, too.
  let queued: FeedRow[] | undefined = []
  const following: TailReader = {
    position: start,
    take(change) {
      if (queued === undefined) return hand(change)
      queued.push(change)
    },
  }
  const leave = await joinTail(hub, following)
  const place = writePlace(following.position)
  try {
    const from = readPlace(since)
    if (from !== undefined) await catchUp(hub, { from, to: following.position, hand })
    for (let next = queued.shift(); next !== undefined; next = queued.shift()) await hand(next)
  } catch (error) {
    leave()
    throw error
  }
  queued = undefined
  return { place, leave }
}

interface CatchingUp {
  readonly from: FeedPosition
  /** Where the tail was joined. */
  readonly to: FeedPosition
  readonly hand: (change: FeedRow) => Promise<void>
}

async function catchUp(hub: Hub, { from, to, hand }: CatchingUp): Promise<void> {
  for (let position = from; ; ) {
    const changes = await listFeedAfter(reader(hub), position, page)
    for (const change of changes) {
      position = { tx: change.tx, id: change.id }
      if (isBefore(to, position)) return
      await hand(change)
    }
    if (changes.length < page) return
  }
}
