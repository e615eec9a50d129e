/** Members of a topic: joining it, how far each has read, who is there. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { lockMember, type MemberRow, upsertJoin } from '../../store/agents/holders.ts'
import { findHighestSeq } from '../../store/threads/threads.ts'
import { insertCursor, listPeers, updateCursor } from '../../store/topics/cursors.ts'
import { lockTopic } from '../../store/topics/topic-admin.ts'
import type { Caller } from '../access/callers.ts'
import { holdName } from '../access/holders.ts'
import { mayActAs } from '../access/rules.ts'
import { actIn, findActor, notYours } from '../agents/acting.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { threadChannel } from '../messages/placing.ts'
import { enter, needTopic, type Topic, topicNotFound } from './topics.ts'

/** The caller of a topic's verbs: its project, and the key that tells its calls from those of others. */
export interface Holder {
  readonly caller: Caller
  readonly project: string
  readonly key: string
  /** The name that its URL gives it. */
  readonly named?: string | undefined
}

/** A URL that names an agent which the caller may not act as is refused: one with a key, or another than that of the key. */
export async function checkNamed(hub: Hub, { caller, project, named }: Holder): Promise<void> {
  if (named === undefined) return
  await findActor(hub, { caller, project, name: named, unnoticed: true })
}

interface Joined {
  readonly topic: Topic
  readonly name: string
  readonly reclaimToken: string
}

export async function join(
  hub: Hub,
  { caller, project, key }: Holder,
  { topic, name, token }: { topic: Topic; name: string; token: string | undefined },
): Promise<Joined> {
  const actor = await findActor(hub, { caller, project, name })
  enter(caller, topic)
  return commit(hub, caller, async (tx, note) => {
    const agent = await actIn(hub, { tx, note, caller }, actor)
    // The topic may have been deleted since it was found.
    if ((await lockTopic(tx, topic.projectId, topic.uid)) === undefined) throw topicNotFound(topic.uid)
    const reclaimToken = await holdName(hub, tx, { agent, holder: key, token })
    await insertCursor(tx, topic.id, agent.id, hub.clock.now())
    await upsertJoin(tx, key, topic.id, agent.id)
    note({ kind: 'topic.joined', projectId: topic.projectId, threadId: topic.id, agentId: agent.id })
    return { topic, name: agent.name, reclaimToken }
  })
}

/** The member that a holder takes part as, or an error that says how to join. */
export async function needMember(
  tx: Tx,
  { caller, key }: Holder,
  topic: Pick<Topic, 'id' | 'name'>,
): Promise<MemberRow> {
  const member = await lockMember(tx, key, topic.id)
  if (member === undefined)
    throw new HubError('AGENT_NOT_JOINED', `You have not joined the topic ${JSON.stringify(topic.name)}.`)
  // A holder may be known only by its name on a URL, which anybody can write there.
  const { agent_id: id, name, keyed } = member
  if (!mayActAs(caller, { id, name, keyed: keyed === 1 })) throw notYours(caller, member)
  if (member.holder !== key)
    throw new HubError(
      'AGENT_NOT_JOINED',
      `The name ${JSON.stringify(member.name)} was taken over by another process.`,
      { reason: 'name_taken_over', hint: 'Join under another name, or take yours back with its token.' },
    )
  return member
}

export interface Cursor {
  readonly lastSeq: number
  readonly updatedAt: number
}

/** Sets how far the caller has read, forward or back. */
export async function resetCursor(hub: Hub, holder: Holder, uid: string, lastSeq: number) {
  const { id, projectId, ...topic } = await needTopic(hub, holder.caller, holder.project, uid)
  await checkNamed(hub, holder)
  return commit(hub, holder.caller, async (tx, note) => {
    const { agent_id: agentId, name } = await needMember(tx, holder, { id, ...topic })
    const highest = await findHighestSeq(tx, id)
    if (lastSeq > highest) throw beyondTheEnd(lastSeq, highest)
    const now = hub.clock.now()
    await updateCursor(tx, {
      threadId: id,
      agentId,
      lastSeq,
      scannedSeq: lastSeq,
      floorSeq: lastSeq,
      syncedAt: now,
      waitingUntil: undefined,
    })
    // Another call of the same agent may wait for messages that are unread again.
    note({ kind: 'cursor.reset', projectId, threadId: id, agentId, wakes: [threadChannel(id)] })
    return { name, cursor: { lastSeq, updatedAt: now } satisfies Cursor }
  })
}

/** A cursor goes no further than the last message. */
export const beyondTheEnd = (given: number, highest: number): HubError =>
  new HubError(
    'INVALID_ARGUMENT',
    `The position must be at most ${highest}, the highest seq of this topic; got ${given}.`,
    {
      reason: 'beyond_end',
      hint: 'Read the topic first: the answer has its highest seq.',
    },
  )

export interface Peer {
  readonly name: string
  readonly lastSeq: number
  readonly seenAt: number
}

/** The peers that synced within the window, or wait now; no more than one answer may list, however many are asked for. */
export async function listPresent(
  hub: Hub,
  caller: Caller,
  project: string,
  { uid, windowMs, limit }: { uid: string; windowMs: number; limit: number },
) {
  const { id } = await needTopic(hub, caller, project, uid)
  const now = hub.clock.now()
  const most = Math.min(limit, limits.listed)
  const rows = await listPeers(reader(hub), {
    threadId: id,
    since: now - windowMs,
    now,
    limit: most + 1,
  })
  const peers: Peer[] = rows
    .slice(0, most)
    .map((row) => ({ name: row.name, lastSeq: row.last_seq, seenAt: row.seen_at }))
  return { now, peers, hasMore: rows.length > most }
}
