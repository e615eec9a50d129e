/** The oldest mail of several agents, taken by one statement that commits itself (PostgreSQL). */
import sql from 'sql-template-tag'
import { autocommit, type Tx } from '../../db/port.ts'
import { isContact } from '../contacts/contacts.ts'
import { insertChangesFrom } from '../feed/changes.ts'
import type { MailRow, Taking } from './deliveries.ts'
import { patience, patient } from './mail-batch.ts'

export interface BatchedTaking extends Taking {
  /** Whether the caller may act as the agent also if that has a key by now. */
  readonly ofKeyed: boolean
  readonly actor: string
  readonly projectId: number
}

/** Whether the agent has or had a key, and its mail, if there was some and the caller may have it. */
export interface BatchedTaken {
  readonly keyed: boolean
  readonly row: MailRow | undefined
}

type TakenRow = { n: number; keyed: number } & (MailRow | { delivery_id: null })

const told = insertChangesFrom(sql`
  SELECT now, actor, CASE WHEN held_until IS NULL THEN 'mail.taken' ELSE 'mail.lent' END, project_id, recipient_id,
    NULL::bigint, message_id, ''
  FROM found`)

/** Each agent is asked for once: a second delivery of the same one would be the first again. */
export async function takeDeliveryBatch(tx: Tx, all: readonly BatchedTaking[]): Promise<(BatchedTaken | undefined)[]> {
  const asked = all.map(({ recipientId, now, hold, heldUntil, ofKeyed, actor, projectId }, n) => ({
    n,
    recipient_id: recipientId,
    now,
    hold,
    held_until: heldUntil,
    of_keyed: ofKeyed ? 1 : 0,
    actor,
    project_id: projectId,
  }))
  const rows = await autocommit<TakenRow>(
    tx,
    sql`
  WITH
    ${patience}
    asked AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(asked)}::json) AS one (
        n INTEGER, recipient_id BIGINT, now BIGINT, hold TEXT, held_until BIGINT, of_keyed INTEGER, actor TEXT, project_id BIGINT)),
    -- Before deliveries, in the order of their ids, as sends lock them.
    held AS MATERIALIZED (
      SELECT id, keyed FROM agents
      WHERE id = ANY (${all.map(({ recipientId }) => recipientId)}::bigint[]) ${patient}
      ORDER BY id FOR NO KEY UPDATE),
    found AS MATERIALIZED (
      SELECT asked.*, delivery.id AS delivery_id, delivery.message_id
      FROM asked JOIN held ON held.id = asked.recipient_id AND (held.keyed = 0 OR asked.of_keyed = 1)
        CROSS JOIN LATERAL (
          SELECT id, message_id FROM deliveries d
          WHERE d.recipient_id = held.id AND d.read_at IS NULL AND (d.held_until IS NULL OR d.held_until <= asked.now)
            AND (d.expires_at IS NULL OR d.expires_at > asked.now)
          ORDER BY d.id LIMIT 1 FOR UPDATE SKIP LOCKED) AS delivery),
    taken AS (
      UPDATE deliveries d
      SET hold = found.hold, held_until = found.held_until, delivered_at = found.now, read_at = CASE WHEN found.held_until IS NULL THEN found.now END,
        attempts = CASE WHEN found.held_until IS NULL THEN d.attempts ELSE COALESCE(d.attempts, 0) + 1 END
      FROM found WHERE d.id = found.delivery_id),
    lowered AS (
      UPDATE agents SET unread = unread - 1 FROM found WHERE agents.id = found.recipient_id AND found.held_until IS NULL),
    told AS (${told})
  SELECT asked.n, found.delivery_id, m.id AS message_id, m.uid, m.client_id, s.name AS sender, s.project_id AS sender_project,
    ${isContact({ reader: sql`held.id`, sender: sql`m.sender_id`, now: sql`asked.now` })} AS contact, m.subject,
    m.importance, m.ack_required, m.body, m.created_at, held.keyed
  FROM asked JOIN held ON held.id = asked.recipient_id LEFT JOIN found USING (n)
    LEFT JOIN messages m ON m.id = found.message_id LEFT JOIN agents s ON s.id = m.sender_id`,
  )
  const taken: (BatchedTaken | undefined)[] = all.map(() => undefined)
  for (const { n, ...row } of rows)
    taken[n] = { keyed: row.keyed === 1, row: row.delivery_id === null ? undefined : row }
  return taken
}
