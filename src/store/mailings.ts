/** The rows of several messages as one statement that commits itself (PostgreSQL). It is its unit: none of them needs another row. */
import sql, { raw } from 'sql-template-tag'
import { autocommit, type Tx } from '../db/port.ts'
import { isOpen } from './admission.ts'
import {
  type Delivering,
  insertMailAlone,
  type Mail,
  type Placed,
  type PlacedRow,
  patience,
  patient,
  type Telling,
  type ThreadPlace,
  toPlaced,
} from './sending.ts'

export interface MailAlone extends Delivering {
  readonly place: ThreadPlace
  readonly mail: Mail
  readonly telling: Telling
}

/** The place of each; undefined of one that is not let through at once, whether or not it may be. */
export async function insertMailsAlone(tx: Tx, all: readonly MailAlone[]): Promise<(Placed | undefined)[]> {
  const [only, ...others] = all
  // Of a single row the statement for many takes half as long again.
  if (only !== undefined && others.length === 0 && only.to.length === 1) return [await insertMailAlone(tx, only)]
  const rows = await autocommit<PlacedRow & { n: number }>(tx, mailings(all))
  const placed: (Placed | undefined)[] = all.map(() => undefined)
  for (const row of rows) placed[row.n] = toPlaced(row)
  return placed
}

const mailings = (all: readonly MailAlone[]) => {
  const threads = new Set(all.flatMap(({ place }) => ('threadId' in place ? [place.threadId] : [])))
  const agents = new Set(all.flatMap(({ to }) => to.map(({ id }) => id)))
  const addressed = all.flatMap(({ to }, n) => to.map(({ id, kind }) => ({ n, id, kind })))
  return sql`
  WITH
    ${patience}
    letters AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(all.map(toLetter))}::json) AS letter (
        n INTEGER, uid TEXT, thread_id BIGINT, project_id BIGINT, sender_id BIGINT, kind TEXT, subject TEXT, importance TEXT,
        ack_required INTEGER, urgent INTEGER, body TEXT, now BIGINT, actor TEXT, wakes TEXT,
        depth BIGINT, free INTEGER, until BIGINT, leases INTEGER)),
    addressed AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(addressed)}::json) AS address (n INTEGER, id BIGINT, kind TEXT)),
    -- Threads before agents, each in the order of their ids, as every send locks them.
    joined AS MATERIALIZED (
      SELECT id, next_seq FROM threads WHERE id = ANY (${[...threads]}::bigint[]) ${patient}
      ORDER BY id FOR NO KEY UPDATE),
    held AS MATERIALIZED (
      SELECT id, unread, contact_policy, project_id FROM agents
      WHERE id = ANY (${[...agents]}::bigint[]) AND (SELECT COUNT(*) FROM joined) >= 0 ${patient}
      ORDER BY id FOR NO KEY UPDATE),
    passed AS MATERIALIZED (
      SELECT letter.*, joined.next_seq FROM letters letter LEFT JOIN joined ON joined.id = letter.thread_id
      WHERE (letter.thread_id IS NULL OR joined.id IS NOT NULL) AND NOT EXISTS (
        SELECT 1 FROM addressed address LEFT JOIN held AS agents ON agents.id = address.id
        WHERE address.n = letter.n AND (agents.id IS NULL OR NOT (${isOpen(ofLetter)})))),
    raised AS (
      UPDATE agents SET unread = unread + counted.more
      FROM (SELECT address.id, COUNT(*) AS more FROM addressed address JOIN passed USING (n) GROUP BY address.id) AS counted
      WHERE agents.id = counted.id),
    moved AS (
      UPDATE threads SET next_seq = threads.next_seq + counted.more
      FROM (SELECT thread_id, COUNT(*) AS more FROM passed WHERE thread_id IS NOT NULL GROUP BY thread_id) AS counted
      WHERE threads.id = counted.thread_id),
    begun AS (
      INSERT INTO threads (uid, project_id, next_seq, created_at)
      SELECT uid, project_id, 2, now FROM passed WHERE thread_id IS NULL ORDER BY n RETURNING id, uid),
    sent AS (
      INSERT INTO messages (thread_id, seq, uid, sender_id, kind, subject, importance, ack_required, mail, body, created_at)
      SELECT COALESCE(passed.thread_id, begun.id),
        COALESCE(passed.next_seq + ROW_NUMBER() OVER (PARTITION BY passed.thread_id ORDER BY n) - 1, 1),
        passed.uid, sender_id, kind, subject, importance, ack_required, 1, body, now
      FROM passed LEFT JOIN begun ON begun.uid = passed.uid ORDER BY n RETURNING id, thread_id, seq, uid),
    placed AS MATERIALIZED (
      SELECT passed.*, sent.id AS message_id, sent.thread_id AS place_id, sent.seq FROM passed JOIN sent ON sent.uid = passed.uid),
    delivered AS (
      INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, urgent, ack_wanted)
      SELECT message_id, address.id, address.kind, now, urgent, ack_required
      FROM placed JOIN addressed address USING (n) ORDER BY message_id),
    told AS (
      INSERT INTO changes (at, actor, kind, project_id, agent_id, thread_id, message_id, wakes)
      SELECT now, actor, 'message.sent', project_id, sender_id, place_id, message_id, wakes || place_id
      FROM placed ORDER BY message_id)
  SELECT n, place_id AS thread_id, seq, message_id FROM placed`
}

/** Room has to be there for all of them who are asked for here. */
const ofLetter = {
  limit: raw('letter.depth - (SELECT COUNT(*) - 1 FROM addressed other WHERE other.id = address.id)'),
  free: raw('letter.free'),
  senderId: raw('letter.sender_id'),
  until: raw('letter.until'),
  leases: raw('letter.leases'),
}

function toLetter({ place, mail, telling, terms, urgent }: MailAlone, n: number) {
  const { uid, senderId, kind = 'message', subject, importance = 'normal', ackRequired = false, body, now } = mail
  const { contact, leases = false } = terms.open ?? {}
  return {
    n,
    uid,
    thread_id: 'threadId' in place ? place.threadId : null,
    project_id: telling.projectId,
    sender_id: senderId,
    kind,
    subject,
    importance,
    ack_required: ackRequired ? 1 : 0,
    urgent: urgent ? 1 : 0,
    body,
    now,
    actor: telling.actor,
    wakes: `${telling.wakes.join(' ')} ${telling.threads}`,
    depth: terms.limit,
    free: contact === undefined ? 1 : 0,
    until: contact?.until ?? 0,
    leases: leases ? 1 : 0,
  }
}
