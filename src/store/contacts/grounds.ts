/** Grounds for letting a message through without permission: earlier messages between the two, in this thread or lately. */
import sql, { join, type Sql } from 'sql-template-tag'
import type { Reader } from '../../db/port.ts'
import { fromInbox, fromOutbox } from '../mail/boxes.ts'

/** `messages.kind` of a request for contact. It passed the policy by exception: it is no contact by its sender. */
export const requestKind = 'contact'

/** How many messages are looked at, the newest: a send takes the same time however much was written. */
const reach = { answered: 500, thread: 100, recent: 500 } as const

interface Pairs {
  senderId: number
  /** The recipients of its message. */
  ids: readonly number[]
}

const idsOf = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id)

interface InThread extends Pairs {
  threadId: number
  now: number
}

/** The grants by which the sender may write into the thread. */
const invitations = ({ senderId, threadId, now }: InThread): Sql => sql`
  FROM grants g WHERE g.thread_id = ${threadId} AND g.agent_id = ${senderId} AND g.can = 'write' AND g.expires_at > ${now}`

/**
 * The agents that have written to the sender in this thread, in whichever field they named it, or have granted it to write
 * there; by a grant of the operator, all that openly take part (hub.grant.write).
 */
export async function listAnswerable(db: Reader, asked: InThread): Promise<number[]> {
  const { senderId, ids, threadId } = asked
  const others = join([...ids])
  return idsOf(
    await db.all<{ id: number }>(sql`
    WITH latest AS MATERIALIZED (
      SELECT id, sender_id FROM messages WHERE thread_id = ${threadId} ORDER BY seq DESC LIMIT ${reach.answered})
    SELECT m.sender_id AS id FROM latest m JOIN deliveries d ON d.message_id = m.id AND d.recipient_id = ${senderId}
    WHERE m.sender_id IN (${others})
    UNION SELECT g.granter_id ${invitations(asked)} AND g.granter_id IN (${others})
    UNION SELECT m.sender_id FROM latest m
    WHERE m.sender_id IN (${others}) AND EXISTS (SELECT 1 ${invitations(asked)} AND g.granter_id IS NULL)
    UNION SELECT d.recipient_id FROM latest m JOIN deliveries d ON d.message_id = m.id AND d.kind <> 'bcc'
    WHERE d.recipient_id IN (${others}) AND EXISTS (SELECT 1 ${invitations(asked)} AND g.granter_id IS NULL)`),
  )
}

/**
 * The agents that openly share this thread with the sender. Anybody can write into a thread by naming its key, to itself
 * if need be: having written there is no ground. A ground is a host that brought the sender in (it wrote to the sender,
 * granted it to write there, or the sender began the thread with it) and has exchanged a message there with the other; or a message of the sender
 * that reached the other there. Each such message was let through to the other before.
 */
export async function listThreadMates(db: Reader, asked: InThread): Promise<number[]> {
  const { senderId, ids, threadId } = asked
  const others = join([...ids])
  return idsOf(
    await db.all<{ id: number }>(sql`
    WITH spoken AS MATERIALIZED (
      SELECT m.id, m.seq, m.sender_id, d.recipient_id
      FROM (SELECT id, seq, sender_id FROM messages WHERE thread_id = ${threadId} AND kind <> ${requestKind}
        ORDER BY seq DESC LIMIT ${reach.thread}) m
      JOIN deliveries d ON d.message_id = m.id
      WHERE d.kind <> 'bcc' AND d.recipient_id <> m.sender_id),
    hosts AS MATERIALIZED (
      SELECT sender_id AS id FROM spoken WHERE recipient_id = ${senderId}
      UNION SELECT recipient_id FROM spoken WHERE sender_id = ${senderId} AND seq = 1
      UNION SELECT g.granter_id ${invitations(asked)} AND g.granter_id IS NOT NULL),
    shared AS MATERIALIZED (
      SELECT id FROM spoken WHERE sender_id = ${senderId}
        OR sender_id IN (SELECT id FROM hosts) OR recipient_id IN (SELECT id FROM hosts))
    SELECT recipient_id AS id FROM spoken WHERE recipient_id IN (${others}) AND id IN (SELECT id FROM shared)
    UNION SELECT sender_id FROM spoken WHERE sender_id IN (${others}) AND id IN (SELECT id FROM shared)`),
  )
}

/**
 * The agents that the sender has exchanged a message with after a time. The plus keeps both engines from reading all
 * messages that the others ever got or wrote: those that were found first are looked up one by one.
 */
export async function listRecentPartners(
  db: Reader,
  { senderId, ids, since }: Pairs & { since: number },
): Promise<number[]> {
  const others = join([...ids])
  return idsOf(
    await db.all<{ id: number }>(sql`
    SELECT d.recipient_id AS id
    FROM (${fromOutbox(db, { senderId, since })} ORDER BY id DESC LIMIT ${reach.recent}) AS sent
    JOIN messages m ON m.id = sent.id JOIN deliveries d ON d.message_id = m.id
    WHERE m.kind <> ${requestKind} AND +d.recipient_id IN (${others})
    UNION SELECT m.sender_id
    FROM (${fromInbox(db, sql`d.message_id, d.sent_at`, { recipientId: senderId })}
      ORDER BY message_id DESC LIMIT ${reach.recent}) d
    JOIN messages m ON m.id = d.message_id
    WHERE d.sent_at > ${since} AND +m.sender_id IN (${others})`),
  )
}
