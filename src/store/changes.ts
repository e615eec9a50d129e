/** The append-only feed of what was committed: wake-ups, projections and the audit log read it. */
import sql, { join } from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

/** Everything that can happen, each with the ids that a follower needs to look it up. */
export type Event =
  | { kind: 'project.created'; projectId: number }
  | {
      kind: 'agent.created' | 'agent.updated' | 'agent.policy' | 'agent.keyed'
      projectId: number
      agentId: number
    }
  | {
      /** To somebody, or in a topic. The agent wrote it; the project is the agent's, or the topic's. */
      kind: 'message.sent' | 'message.said'
      projectId: number
      agentId: number
      threadId: number
      messageId: number
    }
  | {
      /** What the agent did with a message it was sent. */
      kind: 'mail.taken' | 'mail.lent' | 'mail.returned' | 'mail.read' | 'mail.acknowledged'
      projectId: number
      agentId: number
      messageId: number
    }
  | {
      /** The agent is the one who was asked. */
      kind: 'contact.requested' | 'contact.approved' | 'contact.denied'
      projectId: number
      agentId: number
      contactId: number
    }
  | {
      kind: 'lease.granted' | 'lease.renewed' | 'lease.released' | 'lease.expired'
      projectId: number
      agentId: number
      leaseId: number
    }
  | {
      kind: 'topic.created' | 'topic.closed' | 'topic.reopened' | 'topic.renamed' | 'topic.deleted'
      projectId: number
      threadId: number
    }
  | { kind: 'topic.joined' | 'cursor.reset' | 'cursor.returned'; projectId: number; threadId: number; agentId: number }
  | { kind: 'session.ended' }

/** An event, and the wake-up channels of those who wait for it. */
export type Change = Event & { wakes?: readonly string[] }

interface Columns {
  projectId?: number
  agentId?: number
  threadId?: number
  messageId?: number
  leaseId?: number
  contactId?: number
}

export async function insertChanges(
  tx: Tx,
  changes: readonly Change[],
  { actor, now }: { actor: string; now: number },
): Promise<void> {
  const rows = changes.map(({ kind, wakes = [], ...ids }) => {
    const { projectId, agentId, threadId, messageId, leaseId, contactId }: Columns = ids
    return sql`(${now}, ${actor}, ${kind}, ${projectId ?? null}, ${agentId ?? null}, ${threadId ?? null}, ${messageId ?? null},
      ${leaseId ?? null}, ${contactId ?? null}, ${wakes.join(' ')})`
  })
  await tx.all(sql`
    INSERT INTO changes (at, actor, kind, project_id, agent_id, thread_id, message_id, lease_id, contact_id, wakes)
    VALUES ${join(rows)}`)
}

export async function findLastChange(db: Reader): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(sql`SELECT MAX(id) AS id FROM changes`)
  return row?.id ?? 0
}

/** What was committed after `id`. On SQLite the ids are in the order of the commits: there is one writer at a time. */
export async function listWakesAfter(db: Reader, id: number, limit: number): Promise<{ id: number; wakes: string }[]> {
  return db.all<{ id: number; wakes: string }>(sql`
    SELECT id, wakes FROM changes WHERE id > ${id} ORDER BY id LIMIT ${limit}`)
}
