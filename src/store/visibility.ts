/** Visibility of messages, and the names of threads and messages: every reader of messages asks here. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'

/** The project that is looked at, and by whom. The conditions below are about messages `m` of agents `a` in threads `t`. */
export interface Sight {
  readonly projectId: number
  /** All messages, those that agents without a key may see, or those that this one agent may see. */
  readonly of: 'everybody' | 'keyless' | number
}

/** Of its own threads a project sees all, of others the messages that its agents sent or openly received. */
export const ofProject = (projectId: number): Sql => sql`(t.project_id = ${projectId} OR EXISTS (
  SELECT 1 FROM message_guests g
  WHERE g.project_id = ${projectId} AND g.thread_id = m.thread_id AND g.message_id = m.id))`

/** Ends an EXISTS that is asked of few rows: without it PostgreSQL gathers all deliveries in a table of hashes first. */
const oneByOne = raw('LIMIT 1 OFFSET 0')

/**
 * The messages of a topic are for everybody in its project. Mail is hidden from readers that act as none of its parties: from
 * agents without a key, if all of its parties have one; from an agent with a key, if it has no part in it.
 */
export function forEyesOf(of: Sight['of']): Sql {
  if (of === 'everybody') return sql`TRUE`
  if (of === 'keyless')
    return sql`(t.name IS NOT NULL OR a.keyed = 0 OR EXISTS (
      SELECT 1 FROM deliveries d JOIN agents r ON r.id = d.recipient_id
      WHERE d.message_id = m.id AND d.kind <> 'bcc' AND r.keyed = 0 ${oneByOne}))`
  return sql`(t.name IS NOT NULL OR m.sender_id = ${of} OR EXISTS (
    SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.recipient_id = ${of} AND d.kind <> 'bcc' ${oneByOne}))`
}

/** The messages that lie in an inbox which a reader may open, also in blind copy: of a project's agents, or of all. */
export function received(of: Sight['of'], projectId: number | undefined): Sql {
  const whose = of === 'everybody' ? sql`TRUE` : of === 'keyless' ? sql`r.keyed = 0` : sql`r.id = ${of}`
  return sql`EXISTS (SELECT 1 FROM deliveries d JOIN agents r ON r.id = d.recipient_id
    WHERE d.message_id = m.id AND ${whose} ${projectId === undefined ? empty : sql`AND r.project_id = ${projectId}`} ${oneByOne})`
}

/** The messages that are seen one by one: by their id, or in a search. */
export const seen = ({ projectId, of }: Sight): Sql =>
  sql`t.status <> 'deleted' AND ${ofProject(projectId)} AND ${forEyesOf(of)}`

/** The same for the messages of a thread that is looked into. To name a thread, or to write into it, opens nothing of it. */
export const seenInside = ({ of }: Sight): Sql => (of === 'everybody' ? empty : sql`AND ${forEyesOf(of)}`)

/** Whose eyes look into a thread at the hub: an agent's own, with those of the agents that granted it theirs. */
export type Eyes = 'everybody' | { readonly own: number; readonly lent: readonly number[] }

export const ownEyes = (agentId: number): Eyes => ({ own: agentId, lent: [] })

/**
 * An agent sees what it wrote and what came to it; in a topic that it has joined, everything. Writing into a thread
 * opens nothing else of it, for mail in one thread may be between others (hub.thread.own). A blind copy is for its recipient
 * alone: it is in nobody's grant (hub.thread.blind).
 */
export function seenBy(eyes: Eyes): Sql {
  if (eyes === 'everybody') return sql`TRUE`
  const ids = join([eyes.own, ...eyes.lent])
  return sql`(m.sender_id IN (${ids}) OR EXISTS (
      SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.recipient_id IN (${ids})
        AND (d.kind <> 'bcc' OR d.recipient_id = ${eyes.own}) ${oneByOne})
    OR (t.name IS NOT NULL AND EXISTS (
      SELECT 1 FROM cursors c WHERE c.thread_id = t.id AND c.agent_id IN (${ids}) ${oneByOne})))`
}

/** The threads of a project, and those of others that it sees something of. */
export const seenThread = ({ projectId }: Sight): Sql => sql`t.status <> 'deleted' AND (t.project_id = ${projectId}
  OR EXISTS (SELECT 1 FROM message_guests g WHERE g.project_id = ${projectId} AND g.thread_id = t.id))`

/** How many messages of a thread are seen. They are counted one by one only where some may be hidden. */
export function countSeen(sight: Sight): Sql {
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

/** The name of a thread: its key; of a topic its uid; else the id of its first message, once somebody has answered. */
export const threadName = sql`COALESCE(t.key, CASE WHEN t.name IS NOT NULL THEN t.uid WHEN t.next_seq > 2 THEN ${firstId} END)`

/** Every name that a thread may be looked for by. */
export const threadNames = sql`t.uid || ' ' || COALESCE(t.name || ' ', '') || COALESCE(t.key, ${firstId}, '')`

/** The subject of a message; in a topic, the name of the topic. */
export const subject = sql`COALESCE(m.subject, t.name, '')`

/** The characters of a body that stand in for a missing subject. */
const headLength = 120

/** The same as it is shown; core cuts it at the end of its first line. */
export const shownSubject = sql`COALESCE(m.subject, t.name, substr(m.body, 1, ${headLength}))`
