/** Visibility of messages, and the names of threads and messages: every reader of messages asks here. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { DeliveryKind } from './messages/deliveries.ts'

/** The messages that a caller may read. Every list, count, event and search takes one. */
export interface Sight {
  /** Whose mail: of everybody, of agents without a key, or of one agent. */
  readonly of: 'everybody' | 'keyless' | number
  /** The agents by whose grants that one agent also reads what they wrote and openly got. */
  readonly granted: readonly number[]
  /** The topics: all, those of one project, or those that the agent or a granter has joined. */
  readonly topics: 'all' | 'joined' | { readonly projectId: number }
  /** The blind copies that are told of: all, those from and to the agent itself, or none. */
  readonly blind: 'all' | 'own' | 'none'
  /** Whether the rest of the mail is listed too, without its content. */
  readonly sealed: boolean
}

/** Sight of what one project may see: its own threads, and what openly came to it. */
export interface ProjectSight extends Sight {
  readonly projectId: number
}

/** A message in memory, as a sight is checked against it. `keyed` is set where it is known whether the agent has a key. */
export interface MessageFacts {
  readonly topic: boolean
  /** The project of its thread. */
  readonly projectId: number | undefined
  /** The agents that have joined its topic. */
  readonly members?: readonly number[]
  readonly sender: { readonly id: number; readonly keyed?: boolean }
  readonly recipients: readonly { readonly id: number; readonly kind: DeliveryKind; readonly keyed?: boolean }[]
}

/** A reason to read a message: for messages `m` of agents `a` in threads `t`, and for one in memory. */
interface Ground {
  readonly sql: Sql
  readonly holds: (message: MessageFacts) => boolean
}

/** The agents whose part in mail counts. */
export const agentsIn = ({ of, granted }: Sight): readonly number[] => (typeof of === 'number' ? [of, ...granted] : [])

const among = (column: Sql, ids: readonly number[]): Sql =>
  ids.length === 1 ? sql`${column} = ${ids[0]}` : sql`${column} IN (${join([...ids])})`

/** Of its own threads a project sees all, of others the messages that its agents sent or openly received. */
export const ofProject = (projectId: number): Sql => sql`(t.project_id = ${projectId} OR EXISTS (
  SELECT 1 FROM message_guests g
  WHERE g.project_id = ${projectId} AND g.thread_id = m.thread_id AND g.message_id = m.id))`

/** Ends an EXISTS that is asked of few rows: without it PostgreSQL gathers all deliveries in a table of hashes first. */
const oneByOne = raw('LIMIT 1 OFFSET 0')

/** The words of a topic are for everybody who may see it. */
function inTopics({ topics, ...sight }: Sight): Ground {
  if (topics === 'all') return { sql: sql`t.name IS NOT NULL`, holds: ({ topic }) => topic }
  if (topics === 'joined') {
    const ids = agentsIn({ topics, ...sight })
    return {
      sql: sql`(t.name IS NOT NULL AND EXISTS (
        SELECT 1 FROM cursors c WHERE c.thread_id = t.id AND ${among(sql`c.agent_id`, ids)} ${oneByOne}))`,
      holds: ({ topic, members = [] }) => topic && ids.some((id) => members.includes(id)),
    }
  }
  return {
    sql: sql`(t.name IS NOT NULL AND t.project_id = ${topics.projectId})`,
    holds: ({ topic, projectId }) => topic && projectId === topics.projectId,
  }
}

/** Mail with a part of somebody without a key: anybody may act as them. A blind copy opens nothing. */
const ofKeyless: readonly Ground[] = [
  { sql: sql`a.keyed = 0`, holds: ({ sender }) => sender.keyed === false },
  {
    sql: sql`EXISTS (SELECT 1 FROM deliveries d JOIN agents r ON r.id = d.recipient_id
      WHERE d.message_id = m.id AND d.kind <> 'bcc' AND r.keyed = 0 ${oneByOne})`,
    holds: ({ recipients }) => recipients.some(({ kind, keyed }) => kind !== 'bcc' && keyed === false),
  },
]

/**
 * Mail that the agents of a sight wrote or got. To name a thread, or to write into it, opens nothing else of it: mail in
 * one thread may be between others (hub.thread.own). A blind copy is its recipient's own, and in nobody's grant (hub.thread.blind).
 */
function ofAgents(sight: Sight): readonly Ground[] {
  const ids = agentsIn(sight)
  const own = sight.blind === 'none' ? undefined : ids[0]
  return [
    { sql: among(sql`m.sender_id`, ids), holds: ({ sender }) => ids.includes(sender.id) },
    {
      sql: sql`EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND ${among(sql`d.recipient_id`, ids)}
        AND ${own === undefined ? sql`d.kind <> 'bcc'` : sql`(d.kind <> 'bcc' OR d.recipient_id = ${own})`} ${oneByOne})`,
      holds: ({ recipients }) => recipients.some(({ id, kind }) => ids.includes(id) && (kind !== 'bcc' || id === own)),
    },
  ]
}

/** The one definition of what may be read; undefined where that is everything. */
function groundsOf(sight: Sight): readonly Ground[] | undefined {
  if (sight.of === 'everybody') return undefined
  return [inTopics(sight), ...(sight.of === 'keyless' ? ofKeyless : ofAgents(sight))]
}

/** The messages that may be read. */
export function readable(sight: Sight): Sql {
  const grounds = groundsOf(sight)
  return grounds === undefined
    ? sql`TRUE`
    : sql`(${join(
        grounds.map((ground) => ground.sql),
        ' OR ',
      )})`
}

export const isReadable = (sight: Sight, message: MessageFacts): boolean =>
  groundsOf(sight)?.some(({ holds }) => holds(message)) ?? true

/** Mail (`m`) whose sender and open recipients all hold keys. */
export const isSealed = sql`EXISTS (SELECT 1 FROM threads t JOIN agents a ON a.id = m.sender_id
  WHERE t.id = m.thread_id AND NOT ${readable({ of: 'keyless', granted: [], topics: 'all', blind: 'none', sealed: false })})`

/** The messages that are listed: what may be read, and what is sealed. */
export const listedIn = (sight: Sight): Sql => (sight.sealed ? sql`TRUE` : readable(sight))

export const isListed = (sight: Sight, message: MessageFacts): boolean => sight.sealed || isReadable(sight, message)

/** The deliveries `d` that are told of: a blind copy is its recipient's and its sender's own. */
export function toldOf({ of, blind }: Sight): Sql {
  if (blind === 'all') return sql`TRUE`
  if (blind === 'none') return sql`d.kind <> 'bcc'`
  return sql`(d.kind <> 'bcc' OR d.recipient_id = ${of}
    OR EXISTS (SELECT 1 FROM messages o WHERE o.id = d.message_id AND o.sender_id = ${of}))`
}

/** The same for one in memory. */
export const isToldOf = (
  { of, blind }: Sight,
  delivery: { readonly kind: DeliveryKind; readonly recipientId: number; readonly senderId: number },
): boolean =>
  delivery.kind !== 'bcc' ||
  blind === 'all' ||
  (blind === 'own' && (of === delivery.recipientId || of === delivery.senderId))

/** The messages that lie in an inbox which a reader may open, also in blind copy: of a project's agents, or of all. */
export function received({ of }: Sight, projectId: number | undefined): Sql {
  const whose = of === 'everybody' ? sql`TRUE` : of === 'keyless' ? sql`r.keyed = 0` : sql`r.id = ${of}`
  return sql`EXISTS (SELECT 1 FROM deliveries d JOIN agents r ON r.id = d.recipient_id
    WHERE d.message_id = m.id AND ${whose} ${projectId === undefined ? empty : sql`AND r.project_id = ${projectId}`} ${oneByOne})`
}

/** The messages that are seen one by one: by their id, or in a search. */
export const seen = (sight: ProjectSight): Sql =>
  sql`t.status <> 'deleted' AND ${ofProject(sight.projectId)} AND ${readable(sight)}`

/** The same for the messages of a thread that is looked into. */
export const seenInside = (sight: Sight): Sql => (sight.of === 'everybody' ? empty : sql`AND ${readable(sight)}`)

/** The threads of a project, and those of others that it sees something of. */
export const seenThread = (projectId: number): Sql => sql`t.status <> 'deleted' AND (t.project_id = ${projectId}
  OR EXISTS (SELECT 1 FROM message_guests g WHERE g.project_id = ${projectId} AND g.thread_id = t.id))`

/** How many messages of a thread are seen. They are counted one by one only where some may be hidden. */
export function countSeen(sight: ProjectSight): Sql {
  const { projectId, of } = sight
  const hides = sql`t.name IS NULL ${of === 'keyless' ? sql`AND EXISTS (SELECT 1 FROM agents k WHERE k.keyed = 1)` : empty}`
  return sql`
    CASE WHEN t.project_id <> ${projectId} THEN (
      SELECT COUNT(*) FROM message_guests c JOIN messages m ON m.id = c.message_id JOIN agents a ON a.id = m.sender_id
      WHERE c.project_id = ${projectId} AND c.thread_id = t.id ${seenInside(sight)})
    ${
      of === 'everybody'
        ? empty
        : sql`WHEN ${hides} THEN (
            SELECT COUNT(*) FROM messages m JOIN agents a ON a.id = m.sender_id
            WHERE m.thread_id = t.id ${seenInside(sight)})`
    }
    ELSE t.next_seq - 1 END`
}

/** The id of the message that began a thread, as text. */
const firstId = sql`(SELECT CAST(f.id AS TEXT) FROM messages f WHERE f.thread_id = t.id AND f.seq = 1)`

/** The name of a thread: its key; of a topic its uid; else the id of its first message. */
export const threadName = sql`COALESCE(t.key, CASE WHEN t.name IS NOT NULL THEN t.uid END, ${firstId}, t.uid)`

/** The name in an answer about a message: mail that nobody has answered, and that has no key, stands for itself. */
export const sharedName = sql`CASE WHEN t.key IS NOT NULL OR t.name IS NOT NULL OR t.next_seq > 2 THEN ${threadName} END`

/** Every name that a thread may be looked for by. */
export const threadNames = sql`t.uid || ' ' || COALESCE(t.name || ' ', '') || COALESCE(t.key, ${firstId}, '')`

/** The subject of a message; in a topic, the name of the topic. */
export const subject = sql`COALESCE(m.subject, t.name, '')`

/** The characters of a body that stand in for a missing subject. */
const headLength = 120

/** The same as it is shown; core cuts it at the end of its first line. */
export const shownSubject = sql`COALESCE(m.subject, t.name, substr(m.body, 1, ${headLength}))`
