/** Removing a topic for good: at once for everybody, its messages perhaps a little later. */
import { pause } from '../../base/clock.ts'
import {
  deleteMembers,
  deleteNewestMessages,
  deleteThread,
  listDeletedThreads,
  updateAsDeleted,
} from '../../store/threads/removal.ts'
import { lockTopic } from '../../store/topics/topic-admin.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { pauseMs } from '../hub/job-leases.ts'
import { threadChannel } from '../messages/placing.ts'
import { type Topic, topicNotFound } from './topics.ts'

/** Others wait for the commit. */
const messagesPerCommit = 500

/** Past the last message there can be. */
const end = Number.MAX_SAFE_INTEGER

/**
 * From the first commit on the topic is gone: its waiters learn that there is none. Messages beyond
 * `messagesPerCommit` go in parts. Should the process end before the last one, the next removal does the rest.
 */
export async function deleteTopic(hub: Hub, caller: Caller, { id, uid, projectId }: Topic): Promise<void> {
  needSteering(caller)
  const rest = await commit(hub, caller, async (tx, note) => {
    // A sync locks its cursor and then the topic: the same order here avoids a deadlock with it.
    await deleteMembers(tx, id)
    if ((await lockTopic(tx, projectId, uid)) === undefined) throw topicNotFound(uid)
    const { length } = await deleteNewestMessages(tx, { threadId: id, before: end, limit: messagesPerCommit })
    const rest = length === messagesPerCommit
    if (rest) await updateAsDeleted(tx, id)
    else await deleteThread(tx, id)
    note({ kind: 'topic.deleted', projectId, threadId: id, wakes: [threadChannel(id)] })
    return rest
  })
  if (rest) await finishRemovals(hub)
}

/** Finishes removals, also those that were cut off. */
export async function finishRemovals(hub: Hub): Promise<void> {
  for (const threadId of await listDeletedThreads(reader(hub))) {
    for (let before: number | undefined = end; before !== undefined; ) {
      before = await removePart(hub, threadId, before)
      if (before !== undefined) await pause(pauseMs)
    }
  }
}

/** Returns the end of the next part; undefined when the thread itself is gone. */
function removePart(hub: Hub, threadId: number, before: number): Promise<number | undefined> {
  return commit(hub, itself, async (tx) => {
    const removed = await deleteNewestMessages(tx, { threadId, before, limit: messagesPerCommit })
    if (removed.length === messagesPerCommit) return removed.at(-1)?.seq
    await deleteThread(tx, threadId)
    return undefined
  })
}
