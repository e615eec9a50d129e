/** The rows of a sent message: the counts of its recipients, its place in a thread, the message and its deliveries. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { autocommit, type Tx } from '../db/port.ts'
import { raising, type Terms } from './admission.ts'
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

/** Whom a message goes to. */
export interface Delivering {
  readonly to: readonly { readonly id: number; readonly kind: DeliveryKind }[]
  readonly terms: Terms
  readonly urgent: boolean
}

/** How the feed tells of the message. */
export interface Telling {
  readonly actor: string
  readonly projectId: number
  /** The channels of its recipients, and how those of threads begin. */
  readonly wakes: readonly string[]
  readonly threads: string
}

/**
 * Counts the message as unread, takes the next place of the thread, puts the message there and delivers it; undefined where not
 * all of them met the terms. On PostgreSQL that is one statement, and so one round trip. The rows of the recipients are locked
 * before the message takes its id.
 */
export async function insertMail(
  tx: Tx,
  delivering: Delivering,
  place: ThreadPlace,
  mail: Mail,
): Promise<Placed | undefined> {
  if (tx.dialect === 'sqlite') {
    const { to, terms, urgent } = delivering
    const raise = raising(
      tx,
      to.map(({ id }) => id),
      terms,
    )
    if ((await tx.change(raise)) < to.length) return undefined
    const found = await insertInTurn(tx, place, mail)
    const { ackRequired: ackWanted = false, now } = mail
    insertDeliveries(tx, { messageId: found.messageId, to, urgent, ackWanted, now })
    return found
  }
  const [row] = await tx.all<PlacedRow>(mailing(tx, delivering, place, mail))
  return row && toPlaced(row)
}

/** The same as a unit of its own, with its row of the feed: no other statement belongs to it. */
export async function insertMailAlone(
  tx: Tx,
  { mail, place, telling, ...delivering }: Delivering & { place: ThreadPlace; mail: Mail; telling: Telling },
): Promise<Placed | undefined> {
  const { actor, projectId, wakes, threads } = telling
  const told = sql`, told AS (
    INSERT INTO changes (at, actor, kind, project_id, agent_id, thread_id, message_id, wakes)
    SELECT ${mail.now}, ${actor}, 'message.sent', ${projectId}, ${mail.senderId}, thread_id, id,
      ${`${wakes.join(' ')} ${threads}`}::text || thread_id FROM sent)`
  const [row] = await autocommit<PlacedRow>(tx, mailing(tx, delivering, place, mail, { patience, patient, told }))
  return row && toPlaced(row)
}

/** Others may have locked a row for long: a statement that keeps others waiting gives up soon. `patient` belongs to whatever locks rows. */
export const patience = sql`patience AS MATERIALIZED (SELECT set_config('lock_timeout', '50ms', true)),`
export const patient = sql`AND EXISTS (SELECT 1 FROM patience)`

/** What a statement has besides where it is its whole unit. */
interface Alone {
  readonly patience: Sql
  readonly patient: Sql
  readonly told: Sql
}

const amongOthers: Alone = { patience: empty, patient: empty, told: empty }

function mailing(
  tx: Tx,
  { to, terms, urgent }: Delivering,
  place: ThreadPlace,
  mail: Mail,
  { patience, patient, told }: Alone = amongOthers,
): Sql {
  const { ackRequired = false, now } = mail
  const raise = raising(
    tx,
    to.map(({ id }) => id),
    terms,
  )
  const lines = to.map(({ id, kind }) => sql`(${id}::bigint, ${kind})`)
  return sql`
    WITH ${patience} ${'threadId' in place ? locking(place.threadId, patient) : empty}
      raised AS (${raise} ${'threadId' in place ? sql`AND EXISTS (SELECT 1 FROM locked)` : patient} RETURNING 1),
      place AS (${placing(place, to.length === 1 ? sql`FROM raised` : ofAll(to.length))}),
      sent AS (${sending(mail)}),
      delivered AS (
        INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted)
        SELECT sent.id, r.id, r.kind, ${now}, ${urgent ? 1 : 0}, ${ackRequired ? 1 : 0}
        FROM sent, (VALUES ${join(lines)}) AS r (id, kind))${told}
    SELECT thread_id, seq, id AS message_id FROM sent`
}

export const toPlaced = (row: PlacedRow): Placed => ({
  threadId: row.thread_id,
  seq: row.seq,
  messageId: row.message_id,
})

async function insertInTurn(tx: Tx, place: ThreadPlace, mail: Mail): Promise<Placed> {
  const { threadId, seq } =
    'threadId' in place
      ? { threadId: place.threadId, seq: await takeSeq(tx, place.threadId) }
      : { threadId: await insertThread(tx, { ...place.begins, nextSeq: 2 }), seq: 1 }
  return { threadId, seq, messageId: await insertMessage(tx, { ...mail, threadId, seq }) }
}

const ofAll = (count: number): Sql => sql`FROM (SELECT FROM raised HAVING COUNT(*) = ${count}) AS all_raised`

/** Every send locks threads before agents. */
const locking = (threadId: number, patient: Sql): Sql =>
  sql`locked AS (SELECT 1 FROM threads WHERE id = ${threadId} ${patient} FOR NO KEY UPDATE),`

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

export interface PlacedRow {
  thread_id: number
  seq: number
  message_id: number
}
