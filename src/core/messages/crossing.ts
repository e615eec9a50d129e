/** Messages that cross: the sender of one has not seen another that came into the thread before it. */
import { HubError } from '../../base/errors.ts'
import type { Tx } from '../../db/port.ts'
import { listNewerInThread, listUnseenInThread } from '../../store/messages/crossing.ts'
import { lockThread } from '../../store/threads/mail-threads.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Sent } from './receipt.ts'

const most = 20

/** Older messages of a thread are not looked at: a receipt costs the same in a thread of any length. */
const newest = 200

/** Unread mail of the sender in the thread that it wrote into. A message that it answers is seen. */
export async function listCrossed(
  hub: Hub,
  { threadId, seq, senderId, replyTo, duplicate }: Sent,
): Promise<readonly number[]> {
  if (seq === 1 || duplicate) return []
  const query = { agentId: senderId, threadId, from: seq - newest, before: seq, except: replyTo ?? 0, limit: most }
  return listUnseenInThread(reader(hub), query)
}

/** Locks the thread: nobody writes into it between this look and the message (waking.crossing.refused). */
export async function refuseCrossed(
  tx: Tx,
  { agentId, threadId, after }: { agentId: number; threadId: number; after: number },
): Promise<void> {
  await lockThread(tx, threadId)
  const newer = await listNewerInThread(tx, { agentId, threadId, after, limit: most })
  if (newer.length === 0) return
  throw new HubError('CROSSED', `Nothing was sent: you have not seen message ${newer.join(', ')} of this thread.`, {
    hint: `Read it, then send again with if_seen_through ${newer.at(-1)}, if your message still holds.`,
  })
}
