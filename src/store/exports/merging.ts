/** Two projects as rows that become one: what would clash, and the statements that move everything from one to the other. */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Reader, Tx } from '../../db/port.ts'
import { pruning } from '../feed/followers.ts'
import { moveOutbox } from '../mail/boxes.ts'
import type { ProjectRow } from '../projects.ts'
import { resetNext } from '../search/search.ts'

export interface FiguresRow {
  id: number
  agents: number
  threads: number
  messages: number
  leases: number
}

/** The counts of each project: its agents, threads and topics, the messages in them, and the leases that hold now. */
export const listFigures = (db: Reader, now: number, only?: number): Promise<FiguresRow[]> =>
  db.all<FiguresRow>(sql`
    SELECT p.id,
      (SELECT COUNT(*) FROM agents a WHERE a.project_id = p.id) AS agents,
      (SELECT COUNT(*) FROM threads t WHERE t.project_id = p.id AND t.status <> 'deleted') AS threads,
      (SELECT COUNT(*) FROM messages m JOIN threads t ON t.id = m.thread_id WHERE t.project_id = p.id AND t.status <> 'deleted') AS messages,
      (SELECT COUNT(*) FROM leases l WHERE l.project_id = p.id AND l.released_at IS NULL AND l.expires_at > ${now}) AS leases
    FROM projects p WHERE ${only === undefined ? sql`1 = 1` : sql`p.id = ${only}`} ORDER BY p.id`)

interface TwinRow {
  name: string
  /** Of the project that goes, and of the one that stays. */
  from_id: number
  into_id: number
  from_keys: number
  into_keys: number
}

const keysOf = (agent: 'f' | 'i'): Sql => sql`(SELECT COUNT(*) FROM agent_keys k WHERE k.agent_id = ${raw(agent)}.id)`

/** Agents of one name in both. */
export const listTwins = (db: Reader, from: number, into: number): Promise<TwinRow[]> =>
  db.all<TwinRow>(sql`
    SELECT i.name, f.id AS from_id, i.id AS into_id, ${keysOf('f')} AS from_keys, ${keysOf('i')} AS into_keys
    FROM agents f JOIN agents i ON i.name_key = f.name_key AND i.project_id = ${into}
    WHERE f.project_id = ${from} ORDER BY i.name_key`)

interface ClashRow {
  id: number
  /** The key of a thread, or the name of a topic. */
  label: string
  topic: number
}

/** Threads of one key, and open topics of one name, in both. */
export const listClashes = (db: Reader, from: number, into: number): Promise<ClashRow[]> =>
  db.all<ClashRow>(sql`
    SELECT f.id, f.key AS label, 0 AS topic FROM threads f JOIN threads i ON i.key = f.key AND i.project_id = ${into}
    WHERE f.project_id = ${from} AND f.key IS NOT NULL
    UNION ALL
    SELECT DISTINCT f.id, f.name AS label, 1 AS topic
    FROM threads f JOIN threads i ON i.name_key = f.name_key AND i.project_id = ${into} AND i.status = 'open'
    WHERE f.project_id = ${from} AND f.name_key IS NOT NULL AND f.status = 'open' ORDER BY 1`)

/** Every label that a thread or topic of these two has. */
export async function listLabels(db: Reader, from: number, into: number): Promise<Set<string>> {
  const rows = await db.all<{ label: string }>(sql`
    SELECT key AS label FROM threads WHERE project_id IN (${from}, ${into}) AND key IS NOT NULL
    UNION SELECT name_key FROM threads WHERE project_id IN (${from}, ${into}) AND name_key IS NOT NULL`)
  return new Set(rows.map(({ label }) => label))
}

export async function updateLabel(
  tx: Tx,
  { id, topic, label, nameKey }: { id: number; topic: boolean; label: string; nameKey: string },
): Promise<void> {
  await tx.all(
    topic
      ? sql`UPDATE threads SET name = ${label}, name_key = ${nameKey} WHERE id = ${id}`
      : sql`UPDATE threads SET key = ${label} WHERE id = ${id}`,
  )
}

/** Files of one name and other content: SHA-1 names them, SHA-256 tells them apart. */
export async function countOtherFiles(db: Reader, from: number, into: number): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM attachments f JOIN attachments i ON i.path = f.path AND i.project_id = ${into}
    WHERE f.project_id = ${from} AND f.sha256 <> i.sha256`)
  return row?.count ?? 0
}

/** One agent of two: where both have a row, that of the one that stays is kept. */
export async function mergeAgent(tx: Tx, from: number, into: number): Promise<void> {
  const run = (statement: Sql) => tx.all(statement)
  // A name that both gave to a message of one thread: the second goes without.
  await run(sql`
    UPDATE messages SET client_id = NULL WHERE sender_id = ${from} AND client_id IS NOT NULL AND EXISTS (
      SELECT 1 FROM messages o WHERE o.sender_id = ${into} AND o.thread_id = messages.thread_id AND o.client_id = messages.client_id)`)
  await run(sql`UPDATE messages SET sender_id = ${into} WHERE sender_id = ${from}`)
  for (const [table, others] of Object.entries(agentColumns))
    for (const { column, key } of others) await moveRows(tx, { table, column, key, from, into })
  await mergeDeliveries(tx, from, into)
  await mergeConversations(tx, from, into)
  await run(sql`DELETE FROM contacts WHERE from_id = ${into} AND to_id = ${into}`)
  await run(sql`DELETE FROM grants WHERE agent_id = ${into} AND granter_id = ${into}`)
  await run(sql`DELETE FROM name_holders WHERE agent_id = ${from}`)
  await moveOutbox(tx, { from, into })
  await run(sql`UPDATE changes SET actor = ${`agent:${into}`} WHERE actor = ${`agent:${from}`}`)
  await run(sql`
    UPDATE agents SET
      unread = (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = ${into} AND d.read_at IS NULL),
      keyed = (SELECT MAX(o.keyed) FROM agents o WHERE o.id IN (${from}, ${into})),
      active_at = (SELECT MAX(o.active_at) FROM agents o WHERE o.id IN (${from}, ${into})),
      created_at = (SELECT MIN(o.created_at) FROM agents o WHERE o.id IN (${from}, ${into})),
      owner_contact = COALESCE(owner_contact, (SELECT o.owner_contact FROM agents o WHERE o.id = ${from}))
    WHERE id = ${into}`)
  await run(sql`DELETE FROM agents WHERE id = ${from}`)
}

interface AgentColumn {
  readonly column: string
  /** The other columns of a unique row. */
  readonly key?: readonly string[] | undefined
}

/** Every column that holds an agent and needs no more than another number. */
const agentColumns: Readonly<Record<string, readonly AgentColumn[]>> = {
  agent_keys: [{ column: 'agent_id' }],
  client_ids: [
    { column: 'recipient_id', key: ['client_id', 'sender_id'] },
    { column: 'sender_id', key: ['client_id', 'recipient_id'] },
  ],
  repeated_ids: [
    { column: 'recipient_id', key: ['client_id', 'sender_id', 'digest'] },
    { column: 'sender_id', key: ['client_id', 'recipient_id', 'digest'] },
  ],
  agent_roles: [{ column: 'agent_id', key: ['project_id', 'role'] }],
  shared_mail: [{ column: 'agent_id', key: ['delivery_id'] }],
  cursors: [{ column: 'agent_id', key: ['thread_id'] }],
  read_marks: [{ column: 'agent_id', key: ['thread_id'] }],
  bridged_threads: [{ column: 'agent_id', key: ['thread_id'] }],
  reminders: [{ column: 'recipient_id', key: ['message_id'] }],
  contacts: [
    { column: 'from_id', key: ['to_id'] },
    { column: 'to_id', key: ['from_id'] },
  ],
  joins: [{ column: 'agent_id' }],
  grants: [{ column: 'agent_id' }, { column: 'granter_id' }],
  bridge_grants: [{ column: 'agent_id' }],
  leases: [{ column: 'agent_id' }],
  project_box: [{ column: 'sender_id' }],
  changes: [{ column: 'agent_id' }],
}

/** The names come from the table above. */
async function moveRows(
  tx: Tx,
  { table, column, key = [], from, into }: AgentColumn & { table: string; from: number; into: number },
): Promise<void> {
  const [of, agent] = [raw(table), raw(column)]
  if (key.length > 0) {
    const same = raw(key.map((each) => `o.${each} = ${table}.${each}`).join(' AND '))
    await tx.all(
      sql`DELETE FROM ${of} WHERE ${agent} = ${from} AND EXISTS (SELECT 1 FROM ${of} o WHERE o.${agent} = ${into} AND ${same})`,
    )
  }
  await tx.all(sql`UPDATE ${of} SET ${agent} = ${into} WHERE ${agent} = ${from}`)
}

/** A message that both got is one: read and acknowledged where either has done it, and open where either got it openly. */
async function mergeDeliveries(tx: Tx, from: number, into: number): Promise<void> {
  const other = (column: string) =>
    sql`(SELECT o.${raw(column)} FROM deliveries o WHERE o.recipient_id = ${from} AND o.message_id = deliveries.message_id)`
  const both = sql`EXISTS (SELECT 1 FROM deliveries o WHERE o.recipient_id = ${from} AND o.message_id = deliveries.message_id)`
  await tx.all(sql`
    UPDATE deliveries SET read_at = COALESCE(read_at, ${other('read_at')}), acked_at = COALESCE(acked_at, ${other('acked_at')}),
      kind = CASE WHEN kind = 'bcc' THEN ${other('kind')} ELSE kind END
    WHERE recipient_id = ${into} AND ${both}`)
  await tx.all(sql`
    DELETE FROM deliveries WHERE recipient_id = ${from} AND EXISTS (
      SELECT 1 FROM deliveries o WHERE o.recipient_id = ${into} AND o.message_id = deliveries.message_id)`)
  await tx.all(sql`UPDATE deliveries SET recipient_id = ${into} WHERE recipient_id = ${from}`)
}

/** The lower number comes first in a pair. */
async function mergeConversations(tx: Tx, from: number, into: number): Promise<void> {
  const rows = await tx.all<{ low_id: number; high_id: number; subject_key: string; thread_id: number }>(sql`
    DELETE FROM conversations WHERE low_id = ${from} OR high_id = ${from} RETURNING low_id, high_id, subject_key, thread_id`)
  for (const { low_id, high_id, subject_key, thread_id } of rows) {
    const other = low_id === from ? high_id : low_id
    if (other === into) continue
    await tx.all(sql`
      INSERT INTO conversations (low_id, high_id, subject_key, thread_id)
      VALUES (${Math.min(other, into)}, ${Math.max(other, into)}, ${subject_key}, ${thread_id}) ON CONFLICT DO NOTHING`)
  }
}

/** All that is left of a project once its twins are merged. The row itself goes last: a foreign key would tell what was forgotten. */
export async function moveProject(tx: Tx, from: ProjectRow, into: number, folder: string): Promise<void> {
  const run = (statement: Sql) => tx.all(statement)
  // Names that look alike stay as they are, and only the first has a look, as in older databases.
  await run(sql`
    UPDATE agents SET look = NULL WHERE project_id = ${from.id} AND look IN (SELECT o.look FROM agents o WHERE o.project_id = ${into})`)
  for (const table of ['agents', 'threads', 'leases', 'thread_box', 'changes', 'project_aliases'])
    await run(sql`UPDATE ${raw(table)} SET project_id = ${into} WHERE project_id = ${from.id}`)
  await run(sql`
    DELETE FROM invitations WHERE project_id = ${from.id} AND name_key IN (
      SELECT o.name_key FROM invitations o WHERE o.project_id = ${into})`)
  await run(sql`UPDATE invitations SET project_id = ${into} WHERE project_id = ${from.id}`)
  await run(sql`
    DELETE FROM agent_roles WHERE project_id = ${from.id} AND EXISTS (
      SELECT 1 FROM agent_roles o WHERE o.project_id = ${into} AND o.role = agent_roles.role AND o.agent_id = agent_roles.agent_id)`)
  await run(sql`UPDATE agent_roles SET project_id = ${into} WHERE project_id = ${from.id}`)
  await moveBoxes(tx, from.id, into)
  await moveFiles(tx, from.id, into)
  for (const table of ['activity', 'activity_totals'])
    await run(sql`DELETE FROM ${raw(table)} WHERE project_id = ${from.id}`)
  await run(sql`DELETE FROM related_projects WHERE a_id = ${from.id} OR b_id = ${from.id}`)
  for (const name of new Set([from.slug, from.human_key, folder]))
    await run(sql`INSERT INTO project_aliases (name, project_id) VALUES (${name}, ${into}) ON CONFLICT DO NOTHING`)
  await run(sql`DELETE FROM projects WHERE id = ${from.id}`)
}

/** A guest of a thread is none in its own project. */
async function moveBoxes(tx: Tx, from: number, into: number): Promise<void> {
  const run = (statement: Sql) => tx.all(statement)
  await run(sql`
    DELETE FROM message_guests WHERE project_id = ${from} AND EXISTS (
      SELECT 1 FROM message_guests o WHERE o.project_id = ${into} AND o.thread_id = message_guests.thread_id AND o.message_id = message_guests.message_id)`)
  await run(sql`UPDATE message_guests SET project_id = ${into} WHERE project_id = ${from}`)
  await run(sql`
    DELETE FROM message_guests WHERE project_id = ${into} AND thread_id IN (SELECT t.id FROM threads t WHERE t.project_id = ${into})`)
  const inBoth = (project: number) =>
    sql`message_id IN (SELECT o.message_id FROM project_box o WHERE o.project_id = ${project})`
  await run(sql`DELETE FROM project_box WHERE project_id = ${from} AND home = 0 AND ${inBoth(into)}`)
  await run(sql`DELETE FROM project_box WHERE project_id = ${into} AND home = 0 AND ${inBoth(from)}`)
  await run(sql`UPDATE project_box SET project_id = ${into} WHERE project_id = ${from}`)
}

/** One file of each content: its bytes are kept once. */
async function moveFiles(tx: Tx, from: number, into: number): Promise<void> {
  const twice = await tx.all<{ content: string }>(sql`
    DELETE FROM attachments WHERE project_id = ${from} AND path IN (
      SELECT o.path FROM attachments o WHERE o.project_id = ${into}) RETURNING content`)
  await tx.all(sql`UPDATE attachments SET project_id = ${into} WHERE project_id = ${from}`)
  for (const { content } of twice)
    await tx.all(sql`
      DELETE FROM attachment_parts WHERE content = ${content} AND NOT EXISTS (
        SELECT 1 FROM attachments o WHERE o.content = ${content})`)
  await tx.all(sql`
    UPDATE projects SET attachment_bytes = (SELECT COALESCE(SUM(size), 0) FROM attachments WHERE project_id = ${into}) WHERE id = ${into}`)
}

/** Callers of tasks are written out with the numbers of their agent and project. */
export const listTaskCallers = (tx: Tx): Promise<{ id: string; caller: string }[]> =>
  tx.all<{ id: string; caller: string }>(sql`SELECT id, caller FROM tasks`)

export async function updateTaskCaller(tx: Tx, id: string, caller: string): Promise<void> {
  await tx.all(sql`UPDATE tasks SET caller = ${caller} WHERE id = ${id}`)
}

export async function updateProjectKey(tx: Tx, id: number, humanKey: string, folder: string): Promise<void> {
  await tx.all(sql`UPDATE projects SET human_key = ${humanKey}, folder = ${folder} WHERE id = ${id}`)
  await tx.all(sql`DELETE FROM project_aliases WHERE name IN (${humanKey}, ${folder})`)
}

/** All that is made of the tables is made anew: followers without a watermark begin from nothing, and the index is empty. */
export async function startProjectionsAnew(tx: Tx): Promise<void> {
  await tx.all(sql`DELETE FROM followers WHERE name <> ${pruning}`)
  for (let from: number | undefined = 0; from !== undefined; ) from = await resetNext(tx, from)
}
