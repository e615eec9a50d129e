/** A sync with a topic: sends, receives and moves the cursor in one transaction; then, perhaps, waits. */
import { limits } from '../../base/limits.ts'
import { inSpan, isTracing, noteInSpan } from '../../base/tracing.ts'
import type { Tx } from '../../db/port.ts'
import { type MemberRow, updateHoldersSeen } from '../../store/agents/holders.ts'
import { hasUnread, listMessagesAfter, type ThreadMessageRow } from '../../store/messages/messages.ts'
import { findTopic, type TopicRow } from '../../store/threads/threads.ts'
import { updateCursor, updateCursorBack, updateNotWaiting } from '../../store/topics/cursors.ts'
import type { Caller } from '../access/callers.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { agentWaiter, beginWait } from '../hub/waits.ts'
import { noteStored } from '../messages/filing.ts'
import { threadChannel } from '../messages/placing.ts'
import { linkSenders } from '../messages/traces.ts'
import { needProject } from '../projects/projects.ts'
import { beyondTheEnd, type Cursor, checkNamed, type Holder, needMember } from './members.ts'
import { type Outgoing, type Said, say, type ThreadMessage, toThreadMessage } from './saying.ts'
import { type Topic, topicNotFound, toTopic } from './topics.ts'

export interface Syncing {
  readonly outbox: readonly Outgoing[]
  readonly maxItems: number
  readonly includeSelf: boolean
  /** Whether the received messages count as read. */
  readonly autoAdvance: boolean
  /** Up to where the caller has read, said by itself. */
  readonly ackThrough: number | undefined
  readonly waitMs: number
  readonly signals: readonly AbortSignal[]
  /** Where somebody waits. */
  readonly door?: string | undefined
}

/** The result of one look at the topic. */
interface Round {
  readonly topic: Topic
  readonly name: string
  readonly agentId: number
  readonly cursor: Cursor
  readonly received: readonly ThreadMessage[]
  readonly hasMore: boolean
  /** Where the cursor stood before anything was received. */
  readonly start: number
  /** Of the received messages. */
  readonly ids: readonly number[]
}

export interface Synced extends Round {
  readonly sent: readonly Said[]
  /** Whether it waited in vain until its time was up. */
  readonly timedOut: boolean
  /** Moves the cursor back; for answers that never reached their client. The messages of the outbox stay sent. */
  undo(): Promise<void>
}

export const sync = (hub: Hub, holder: Holder, uid: string, request: Syncing): Promise<Synced> =>
  inSpan('sync', () => syncNow(hub, holder, uid, request))

async function syncNow(hub: Hub, holder: Holder, uid: string, request: Syncing): Promise<Synced> {
  const { id: projectId } = await needProject(hub, holder.caller, holder.project)
  await checkNamed(hub, holder)
  const waitMs = Math.min(request.waitMs, hub.limits.waitMs)
  let endWait: (() => void) | undefined
  try {
    const { sent, round } = await commit(hub, holder.caller, async (tx, note) => {
      const topic = await readTopic(tx, projectId, uid)
      const member = await needMember(tx, holder, topic)
      const sender = { id: member.agent_id, projectId, name: member.name }
      const sent = await say(hub, tx, { topic, sender, outbox: request.outbox, note })
      const round = await receive(hub, tx, { topic, member, sent, request, waitMs })
      const waits = round.received.length === 0 && round.topic.status === 'open' && waitMs > 0
      // Within the transaction, which may run twice: a call that is refused its wait sends nothing.
      endWait?.()
      endWait = waits ? beginWait(hub, agentWaiter(round.agentId)) : undefined
      return { sent, round }
    })
    if (isTracing()) await noteReceived(hub, round)
    if (sent.length > 0) noteStored(hub, { messages: sent.length, deliveries: 0 })
    const later = endWait === undefined ? round : await receiveLater(hub, { holder, round, request, waitMs })
    const last = later ?? round
    return { ...last, sent, timedOut: later === undefined, undo: () => moveBack(hub, holder.caller, last) }
  } finally {
    endWait?.()
  }
}

async function noteReceived(hub: Hub, { agentId, topic, ids }: Round): Promise<void> {
  noteInSpan({ 'parley.agent.id': agentId, 'parley.project.id': topic.projectId })
  await linkSenders(hub, ids)
}

interface Receiving {
  topic: TopicRow
  member: MemberRow
  sent: readonly Said[]
  request: Syncing
  waitMs: number
}

/** Reads the new messages and moves the cursor, in the transaction of the caller. */
async function receive(hub: Hub, tx: Tx, { topic, member, sent, request, waitMs }: Receiving): Promise<Round> {
  const { agent_id: agentId, name, last_seq, scanned_seq, seen_at } = member
  const { maxItems, includeSelf, autoAdvance, ackThrough } = request
  const highest = Math.max(topic.next_seq - 1, ...sent.map(({ message }) => message.seq))
  if (ackThrough !== undefined && ackThrough > highest) throw beyondTheEnd(ackThrough, highest)
  const start = Math.max(last_seq, ackThrough ?? 0)
  const part = {
    threadId: topic.id,
    after: includeSelf ? start : Math.max(start, scanned_seq),
    except: includeSelf ? undefined : agentId,
  }
  const rows = await listMessagesAfter(tx, part, maxItems + 1)
  const fitting = rows.slice(0, Math.min(maxItems, countThatFit(rows)))
  const received = fitting.map(toThreadMessage)
  const lastSeq = autoAdvance ? (received.at(-1)?.seq ?? start) : start
  // Own messages are passed over. Remembering how far saves looking at them again with every call.
  const all = !includeSelf && rows.length === received.length && (autoAdvance || received.length === 0)
  const scannedSeq = all ? Math.max(highest, lastSeq) : Math.max(scanned_seq, lastSeq)
  const now = hub.clock.now()
  const waitingUntil = received.length === 0 && topic.status === 'open' ? now + waitMs : undefined
  const floorSeq = ackThrough === undefined ? undefined : start
  await updateCursor(tx, { threadId: topic.id, agentId, lastSeq, scannedSeq, floorSeq, syncedAt: now, waitingUntil })
  if (now - (seen_at ?? 0) > seenEveryMs) await updateHoldersSeen(tx, [agentId], now)
  return {
    topic: toTopic(topic),
    name,
    agentId,
    cursor: { lastSeq, updatedAt: now },
    received,
    hasMore: rows.length > received.length,
    start,
    ids: fitting.map(({ id }) => id),
  }
}

/** How many of the messages fit into one answer; one always does. */
function countThatFit(rows: readonly ThreadMessageRow[]): number {
  let size = 0
  const first = rows.findIndex(({ body, metadata }, index) => {
    size += body.length + (metadata?.length ?? 0)
    return index > 0 && size > limits.syncAnswerLength
  })
  return first < 0 ? rows.length : first
}

/** Often enough to notice a minute of silence, seldom enough to cost nothing. */
const seenEveryMs = 5000

/** Waits for something to read or for the topic to close. The wait itself writes nothing. */
async function receiveLater(
  hub: Hub,
  { holder, round, request, waitMs }: { holder: Holder; round: Round; request: Syncing; waitMs: number },
): Promise<Round | undefined> {
  const { signals, door, includeSelf } = request
  const { id, projectId, uid } = round.topic
  const unread = { threadId: id, agentId: round.agentId, includeSelf }
  const waiting = { channel: threadChannel(id), ms: waitMs, signals, door, counted: true }
  return wait<Round>(hub, waiting, async (uncommitted) => {
    // A client that is gone takes nothing with it.
    if (signals.some((signal) => signal.aborted)) return {}
    if (uncommitted || (await hasUnread(reader(hub), unread))) {
      const found = await commit(hub, holder.caller, async (tx) => {
        if (uncommitted && !(await hasUnread(tx, unread))) return undefined
        const topic = await readTopic(tx, projectId, uid)
        const member = await needMember(tx, holder, topic)
        return receive(hub, tx, { topic, member, sent: [], request, waitMs: 0 })
      })
      if (found !== undefined && found.received.length > 0) {
        if (isTracing()) await noteReceived(hub, found)
        return { found }
      }
    }
    const topic = await findTopic(reader(hub), projectId, uid)
    if (topic === undefined) throw topicNotFound(uid)
    return topic.status === 'closed' ? { found: { ...round, topic: toTopic(topic) } } : {}
  })
}

async function readTopic(tx: Tx, projectId: number, uid: string): Promise<TopicRow> {
  const topic = await findTopic(tx, projectId, uid)
  if (topic === undefined) throw topicNotFound(uid)
  return topic
}

async function moveBack(hub: Hub, caller: Caller, { topic, agentId, cursor, start }: Round): Promise<void> {
  const { id: threadId, projectId } = topic
  await commit(hub, caller, async (tx, note) => {
    await updateNotWaiting(tx, threadId, agentId)
    if (cursor.lastSeq === start) return
    if (!(await updateCursorBack(tx, { threadId, agentId, from: cursor.lastSeq, to: start }))) return
    // Another call of the same agent may wait for messages that are unread again.
    note({ kind: 'cursor.returned', projectId, threadId, agentId, wakes: [threadChannel(threadId)] })
  })
}
