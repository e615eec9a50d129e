/** Reading a topic from outside: nobody joins, no cursor moves. */
import { findHighestSeq, findTopic } from '../../store/threads/threads.ts'
import { type EntryRow, findStartSeq, listEntries } from '../../store/topics/transcript.ts'
import type { Caller } from '../access/callers.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { threadChannel } from '../messages/placing.ts'
import { type ThreadMessage, toThreadMessage } from './saying.ts'
import { enter, type Topic, topicNotFound, toTopic } from './topics.ts'

export interface Entry extends ThreadMessage {
  /** The `seq` of the message that `replyToUid` names. */
  readonly replyToSeq: number | undefined
}

const toEntry = (row: EntryRow): Entry => ({ ...toThreadMessage(row), replyToSeq: row.reply_seq ?? undefined })

const pageSize = 100

export async function findLastSeq(hub: Hub, caller: Caller, topic: Topic): Promise<number> {
  enter(caller, topic)
  return findHighestSeq(reader(hub), topic.id)
}

/** The `seq` after which the last `count` messages begin, of all or of those before `before`. */
export async function findStart(
  hub: Hub,
  caller: Caller,
  topic: Topic,
  { count, before = Number.MAX_SAFE_INTEGER }: { count: number; before?: number | undefined },
): Promise<number> {
  enter(caller, topic)
  return findStartSeq(reader(hub), { threadId: topic.id, before, count })
}

export async function findEntry(hub: Hub, caller: Caller, topic: Topic, seq: number): Promise<Entry | undefined> {
  enter(caller, topic)
  const [row] = await listEntries(reader(hub), { threadId: topic.id, after: seq - 1, through: seq }, 1)
  return row && toEntry(row)
}

/** The messages after `after`, up to `through`, in order; read as they are asked for. */
export async function* readEntries(
  hub: Hub,
  caller: Caller,
  topic: Topic,
  { after, through }: { after: number; through: number },
): AsyncGenerator<Entry> {
  enter(caller, topic)
  for (let place = after; place < through; ) {
    const rows = await listEntries(reader(hub), { threadId: topic.id, after: place, through }, pageSize)
    for (const row of rows) yield toEntry(row)
    place = rows.at(-1)?.seq ?? through
  }
}

interface News {
  /** As it is now. */
  readonly topic: Topic
  readonly entries: readonly Entry[]
}

/** Wake-ups can be lost; after this long a reader looks again. The hub's limit is for calls of clients, and does not apply. */
const lookAgainMs = 50_000

/** Waits for messages after `after`, or for the topic to change; undefined when the signal came first. */
export async function awaitNews(
  hub: Hub,
  caller: Caller,
  { topic, after, signal }: { topic: Topic; after: number; signal: AbortSignal },
): Promise<News | undefined> {
  enter(caller, topic)
  const { id, uid, projectId, name, status } = topic
  const waiting = { channel: threadChannel(id), ms: lookAgainMs, limitMs: lookAgainMs, signals: [signal] }
  while (!signal.aborted) {
    const news = await wait<News>(hub, waiting, async () => {
      const rows = await listEntries(reader(hub), { threadId: id, after }, pageSize)
      const row = await findTopic(reader(hub), projectId, uid)
      if (row === undefined) throw topicNotFound(uid)
      const changed = row.name !== name || row.status !== status
      return rows.length > 0 || changed ? { found: { topic: toTopic(row), entries: rows.map(toEntry) } } : {}
    })
    if (news !== undefined) return news
  }
  return undefined
}
