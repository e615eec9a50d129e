/** The rows of a sent message: its place in a thread and the message; towards one agent its count and its delivery too. */
import sql, { empty, type Sql } from 'sql-template-tag'
import type { Tx } from '../db/port.ts'
import { raisingOne, type Terms } from './admission.ts'
import { type DeliveryKind, insertDeliveries } from './deliveries.ts'
import { insertMessage, type NewMessage } from './messages.ts'
import { insertThread, type NewThread, takeSeq } from './threads.ts'

/** In a thread that exists, or in one that it begins. */
export type ThreadPlace = { readonly threadId: number } | { readonly begins: Omit<NewThread, 'nextSeq'> }

export type Mail = Omit<NewMessage, 'threadId' | 'seq' | 'mail'>

export interface Placed {
  threadId: number
  seq: number
  messageId: number
}

/** Takes the next place of the thread and puts the message there. On PostgreSQL one statement, and so one round trip. */
export async function insertMail(tx: Tx, place: ThreadPlace, mail: Mail): Promise<Placed> {
  if (tx.dialect === 'sqlite') return insertInTurn(tx, place, mail)
  const [row] = await tx.all<PlacedRow>(sql`
    WITH place AS (${placing(place, empty)}), sent AS (${sending(mail)}) ${placed}`)
  return toPlaced(row as PlacedRow)
}

export interface OnlyDelivery {
  readonly to: number
  readonly terms: Terms
  readonly kind: DeliveryKind
  readonly urgent: boolean
}

/**
 * The same with its delivery to one agent that takes it at once; undefined, and nothing stored, where it does not. The row of the
 * agent is locked before the message takes its id.
 */
export async function insertMailToOne(
  tx: Tx,
  { to, terms, kind, urgent }: OnlyDelivery,
  place: ThreadPlace,
  mail: Mail,
): Promise<Placed | undefined> {
  const { ackRequired = false, now } = mail
  if (tx.dialect === 'sqlite') {
    if ((await tx.change(raisingOne(to, terms))) === 0) return undefined
    const found = await insertInTurn(tx, place, mail)
    const { messageId } = found
    insertDeliveries(tx, { messageId, to: [{ id: to, kind }], urgent, ackWanted: ackRequired, now })
    return found
  }
  const [row] = await tx.all<PlacedRow>(sql`
    WITH raised AS (${raisingOne(to, terms)} RETURNING 1),
      place AS (${placing(place, sql`FROM raised`)}),
      sent AS (${sending(mail)}),
      delivered AS (
        INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted)
        SELECT id, ${to}, ${kind}, ${now}, ${urgent ? 1 : 0}, ${ackRequired ? 1 : 0} FROM sent)
    ${placed}`)
  return row && toPlaced(row)
}

async function insertInTurn(tx: Tx, place: ThreadPlace, mail: Mail): Promise<Placed> {
  const { threadId, seq } =
    'threadId' in place
      ? { threadId: place.threadId, seq: await takeSeq(tx, place.threadId) }
      : { threadId: await insertThread(tx, { ...place.begins, nextSeq: 2 }), seq: 1 }
  return { threadId, seq, messageId: await insertMessage(tx, { ...mail, threadId, seq }) }
}

/** `after`: a FROM that brings a row, or none where nothing is to be stored. */
const placing = (place: ThreadPlace, after: Sql): Sql =>
  'threadId' in place
    ? sql`
      UPDATE threads SET next_seq = next_seq + 1 ${after} WHERE id = ${place.threadId}
      RETURNING id AS thread_id, next_seq - 1 AS seq`
    : sql`
      INSERT INTO threads (uid, project_id, key, next_seq, created_at)
      SELECT ${place.begins.uid}, ${place.begins.projectId}, ${place.begins.key ?? null}, 2, ${place.begins.now} ${after}
      RETURNING id AS thread_id, 1 AS seq`

function sending({ uid, senderId, clientId, kind = 'message', replyTo, body, metadata, now, ...mail }: Mail): Sql {
  const { subject, importance = 'normal', ackRequired = false, attachments } = mail
  return sql`
    INSERT INTO messages (thread_id, seq, uid, sender_id, client_id, kind, reply_to, subject, importance,
      ack_required, mail, body, metadata, attachments, created_at)
    SELECT thread_id, seq, ${uid}, ${senderId}, ${clientId ?? null}, ${kind}, ${replyTo ?? null}, ${subject ?? null},
      ${importance}, ${ackRequired ? 1 : 0}, 1, ${body}, ${metadata ?? null}, ${attachments ?? null}, ${now}
    FROM place RETURNING id, thread_id, seq`
}

const placed = sql`SELECT thread_id, seq, id AS message_id FROM sent`

interface PlacedRow {
  thread_id: number
  seq: number
  message_id: number
}

const toPlaced = (row: PlacedRow): Placed => ({ threadId: row.thread_id, seq: row.seq, messageId: row.message_id })
