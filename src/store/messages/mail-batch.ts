/** The rows of 1..n messages as one statement of PostgreSQL: a unit by itself, or among others of a transaction. */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import { insertChangesFrom } from '../feed/changes.ts'
import { pairOf } from '../mail/conversations.ts'
import { isOpen } from './admission.ts'
import { isUrgent } from './deliveries.ts'
import type { NewMail } from './sending.ts'

/** Others may have locked a row for long: a statement that keeps others waiting gives up soon. `patient` belongs to whatever locks rows. */
export const patience = sql`patience AS MATERIALIZED (SELECT set_config('lock_timeout', '50ms', true)),`
export const patient = sql`AND EXISTS (SELECT 1 FROM patience)`

export interface PlacedRow {
  n: number
  thread_id: number
  seq: number
  message_id: number
  /** A recipient, as it was before the batch. */
  id: number | null
  unread: number
  active_at: number
}

/** Brings a row for each recipient of each message that is stored. Parts that no message needs are left out: each takes the server some 10 µs. */
export function mailBatch(all: readonly NewMail[], { hurried }: { hurried: boolean }): Sql {
  const threads = new Set(all.flatMap(({ threadId }) => threadId ?? []))
  const addressed = all.flatMap(({ to = [] }, n) => to.map(({ id, kind }) => ({ n, id, kind })))
  const agents = new Set(addressed.map(({ id }) => id))
  const give = hurried ? patient : empty
  const some = (wanted: (mail: NewMail) => unknown, part: Sql): Sql => (all.some(wanted) ? part : empty)
  return sql`
  WITH
    ${hurried ? patience : empty}
    given AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${toJson(all.map(toRow))}::json) AS given (
        n INTEGER, uid TEXT, thread_id BIGINT, project_id BIGINT, key TEXT, sender_id BIGINT, client_id TEXT, kind TEXT,
        reply_to BIGINT, subject TEXT, importance TEXT, ack_required INTEGER, urgent INTEGER, mail INTEGER, body TEXT,
        metadata TEXT, attachments TEXT, now BIGINT, depth BIGINT, free INTEGER, until BIGINT, leases INTEGER,
        called TEXT, digest TEXT, low_id BIGINT, high_id BIGINT, subject_key TEXT, guests BIGINT[], images JSON, sha1s TEXT[],
        actor TEXT, wakes TEXT, expires_at BIGINT, traceparent TEXT)),
    addressed AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${toJson(addressed)}::json) AS address (n INTEGER, id BIGINT, kind TEXT)),
    -- Threads before agents, each in the order of their ids, as every send locks them.
    joined AS MATERIALIZED (
      SELECT id, next_seq, status FROM threads WHERE id = ANY (${[...threads]}::bigint[]) ${give}
      ORDER BY id FOR NO KEY UPDATE),
    held AS MATERIALIZED (
      SELECT id, unread, active_at, contact_policy, project_id FROM agents
      WHERE id = ANY (${[...agents]}::bigint[]) AND (SELECT COUNT(*) FROM joined) >= 0 ${give}
      ORDER BY id FOR NO KEY UPDATE),
    passed AS MATERIALIZED (
      SELECT given.*, joined.next_seq FROM given LEFT JOIN joined ON joined.id = given.thread_id
      WHERE (given.thread_id IS NULL OR joined.id IS NOT NULL AND (mail = 1 OR joined.status = 'open')) AND NOT EXISTS (
        SELECT 1 FROM addressed address LEFT JOIN held AS agents ON agents.id = address.id
        WHERE address.n = given.n AND (agents.id IS NULL OR NOT (${isOpen(ofGiven)})))),
    raised AS (
      UPDATE agents SET unread = unread + counted.more
      FROM (SELECT address.id, COUNT(*) AS more FROM addressed address JOIN passed USING (n) GROUP BY address.id) AS counted
      WHERE agents.id = counted.id),
    moved AS (
      UPDATE threads SET next_seq = threads.next_seq + counted.more
      FROM (SELECT thread_id, COUNT(*) AS more FROM passed WHERE thread_id IS NOT NULL GROUP BY thread_id) AS counted
      WHERE threads.id = counted.thread_id),
    begun AS (
      INSERT INTO threads (uid, project_id, key, next_seq, created_at)
      SELECT uid, project_id, key, 2, now FROM passed WHERE thread_id IS NULL ORDER BY n RETURNING id, uid),
    sent AS (
      INSERT INTO messages (thread_id, seq, uid, sender_id, client_id, kind, reply_to, subject, importance, ack_required, mail,
        body, metadata, attachments, created_at)
      SELECT COALESCE(passed.thread_id, begun.id),
        COALESCE(passed.next_seq + ROW_NUMBER() OVER (PARTITION BY passed.thread_id ORDER BY n) - 1, 1), passed.uid, sender_id,
        client_id, kind, reply_to, subject, importance, ack_required, mail, body, metadata, attachments, now
      FROM passed LEFT JOIN begun ON begun.uid = passed.uid ORDER BY n RETURNING id, thread_id, seq, uid),
    placed AS MATERIALIZED (
      SELECT passed.*, sent.id AS message_id, sent.thread_id AS place_id, sent.seq FROM passed JOIN sent ON sent.uid = passed.uid)
    ${some(({ to }) => to?.length, all.some(({ message }) => message.expiresAt) ? deliveredUntil : delivered)}
    ${some(({ called, bodyHash }) => called !== undefined && bodyHash === undefined, named)}
    ${some(({ bodyHash }) => bodyHash, repeated)}
    ${some(({ guests }) => guests?.length, invited)}
    ${some(({ about }) => about, filed)}
    ${some(({ images }) => images?.length, pictured)}
    ${some(({ sha1s }) => sha1s?.length, carried)}
    ${some(({ feed }) => feed, told)}
    ${some(({ traceparent }) => traceparent, traced)}
  SELECT placed.n, place_id AS thread_id, seq, message_id, held.id, held.unread, held.active_at
  FROM placed LEFT JOIN addressed ON addressed.n = placed.n LEFT JOIN held ON held.id = addressed.id`
}

const delivered = sql`, delivered AS (
  INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted)
  SELECT message_id, address.id, address.kind, now, urgent, ack_required
  FROM placed JOIN addressed address USING (n) ORDER BY message_id)`

const deliveredUntil = sql`, delivered AS (
  INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted, expires_at)
  SELECT message_id, address.id, address.kind, now, urgent, ack_required, expires_at
  FROM placed JOIN addressed address USING (n) ORDER BY message_id)`

const named = sql`, named AS (
  INSERT INTO client_ids (recipient_id, client_id, sender_id, message_id)
  SELECT address.id, called, sender_id, message_id FROM placed JOIN addressed address USING (n)
  WHERE called IS NOT NULL AND digest IS NULL)`

const repeated = sql`, repeated AS (
  INSERT INTO repeated_ids (recipient_id, client_id, sender_id, digest, message_id)
  SELECT address.id, called, sender_id, digest, message_id FROM placed JOIN addressed address USING (n)
  WHERE digest IS NOT NULL)`

const invited = sql`, invited AS (
  INSERT INTO message_guests (project_id, thread_id, message_id)
  SELECT guest, place_id, message_id FROM placed, unnest(guests) AS guest)`

const filed = sql`, filed AS (
  INSERT INTO conversations (low_id, high_id, subject_key, thread_id)
  SELECT low_id, high_id, subject_key, place_id FROM placed WHERE subject_key IS NOT NULL)`

const pictured = sql`, pictured AS (
  INSERT INTO inline_images (message_id, position, data_uri)
  SELECT message_id, image.position, image.data_uri
  FROM placed, json_to_recordset(images) AS image (position INTEGER, data_uri TEXT))`

const carried = sql`, carried AS (
  INSERT INTO attachment_carriers (sha1, message_id) SELECT sha1, message_id FROM placed, unnest(sha1s) AS sha1)`

const told = sql`, told AS (${insertChangesFrom(sql`
  SELECT now, actor, 'message.sent', project_id, sender_id, place_id, message_id, wakes || place_id
  FROM placed ORDER BY message_id`)})`

const traced = sql`, traced AS (
  INSERT INTO message_traces (message_id, traceparent, sent_at)
  SELECT message_id, traceparent, now FROM placed WHERE traceparent IS NOT NULL)`

/** Room has to be there for all of them who are asked for here. */
const ofGiven = {
  limit: raw('given.depth - (SELECT COUNT(*) - 1 FROM addressed other WHERE other.id = address.id)'),
  free: raw('given.free'),
  senderId: raw('given.sender_id'),
  until: raw('given.until'),
  leases: raw('given.leases'),
}

function toRow({ message, about, feed, terms, ...mail }: NewMail, n: number) {
  const { uid, senderId, clientId, kind = 'message', replyTo, subject, importance = 'normal', body, now } = message
  const { contact, leases = false } = terms?.open ?? {}
  const [low, high] = about === undefined ? [] : pairOf(about)
  return {
    n,
    uid,
    thread_id: mail.threadId,
    project_id: mail.projectId,
    key: mail.key,
    sender_id: senderId,
    client_id: clientId,
    kind,
    reply_to: replyTo,
    subject,
    importance,
    ack_required: message.ackRequired ? 1 : 0,
    urgent: isUrgent(message) ? 1 : 0,
    mail: message.mail === false ? 0 : 1,
    body,
    metadata: message.metadata,
    attachments: message.attachments,
    now,
    depth: terms?.limit,
    free: contact === undefined ? 1 : 0,
    until: contact?.until ?? 0,
    leases: leases ? 1 : 0,
    called: mail.called,
    digest: mail.bodyHash,
    low_id: low,
    high_id: high,
    subject_key: about?.key,
    guests: mail.guests,
    images: mail.images,
    sha1s: mail.sha1s,
    actor: feed?.actor,
    wakes: feed?.wakes,
    expires_at: message.expiresAt,
    traceparent: mail.traceparent,
  }
}

/** Half of a surrogate pair is no text to the server: it becomes U+FFFD, as it does in a value that stands by itself. */
function toJson(rows: readonly object[]): string {
  const json = JSON.stringify(rows)
  if (!json.includes('\\ud')) return json
  return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
}
