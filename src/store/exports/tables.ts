/** All tables as rows, for backups: read in the order of their keys, written in an order that foreign keys allow. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { continueIds, lastIds, tableNames } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'

export interface Table {
  readonly name: string
  readonly key: readonly string[]
  /** Columns that say how the row is filed: one that is not filed is as good. */
  readonly without?: readonly string[]
}

const table = (name: string, ...key: string[]): Table => ({ name, key: key.length === 0 ? ['id'] : key })

/** A table comes after those that it refers to. */
export const keptTables: readonly Table[] = [
  table('projects'),
  table('project_aliases', 'name'),
  table('agents'),
  table('agent_keys', 'hash'),
  table('agent_roles', 'project_id', 'role', 'agent_id'),
  table('invitations', 'project_id', 'name_key'),
  table('threads'),
  table('messages'),
  table('client_ids', 'recipient_id', 'client_id', 'sender_id'),
  table('repeated_ids', 'recipient_id', 'client_id', 'sender_id', 'digest'),
  { ...table('deliveries'), without: ['filed'] },
  table('shared_mail', 'agent_id', 'delivery_id'),
  table('message_guests', 'project_id', 'thread_id', 'message_id'),
  table('attachments', 'project_id', 'path'),
  table('attachment_parts', 'content', 'position'),
  table('staged_contents', 'content'),
  table('inline_images', 'message_id', 'position'),
  table('attachment_carriers', 'sha1', 'message_id'),
  table('cursors', 'thread_id', 'agent_id'),
  table('joins', 'holder', 'thread_id'),
  table('name_holders', 'agent_id'),
  table('grants'),
  table('bridge_grants'),
  table('read_marks', 'agent_id', 'thread_id'),
  table('contacts'),
  table('conversations', 'low_id', 'high_id', 'subject_key'),
  table('bridged_threads', 'agent_id', 'thread_id'),
  table('leases'),
  table('related_projects', 'a_id', 'b_id'),
  table('reminders', 'message_id', 'recipient_id'),
  table('people', 'person'),
  table('seen_threads', 'person', 'thread_id'),
  table('saved_searches', 'person', 'path'),
  table('message_people', 'message_id'),
  table('ended_sessions', 'nonce'),
  table('subscriptions', 'session', 'uri'),
  table('tasks', 'id'),
  table('meta', 'key'),
  table('changes'),
  table('followers', 'name'),
]

/** The feed of changes and the places in it: an engine counts them in its own way. */
export const feedTables: ReadonlySet<string> = new Set(['changes', 'followers'])

/** Neither kept nor missed: who works or guesses at what just now, the steps of the schema, and what fills itself from the rest. */
export const leftOut = (name: string): boolean =>
  /^(chores|guesses|announcements|client_sessions|woken_agents|loop_threads|loop_pairs|message_traces|presence|presence_nodes|parley_migrations|outbox|outbox_filed|project_box|thread_box|activity|activity_totals|search_(parts|words|pending)|search_\d+(_\w+)?)$/.test(
    name,
  )

/** All tables of Parley that there are, those of a later version too. */
export async function listTables(db: Reader): Promise<string[]> {
  return (await db.all<{ name: string }>(tableNames(db))).map(({ name }) => name)
}

export async function listMigrationIds(db: Reader): Promise<number[]> {
  return (await db.all<{ id: number }>(sql`SELECT id FROM parley_migrations ORDER BY id`)).map(({ id }) => id)
}

/** From the catalogue, or from a backup that may be anybody's: put into a statement as it is. */
function name(text: string): Sql {
  if (!/^[a-z_][a-z0-9_]*$/.test(text)) throw new Error(`${JSON.stringify(text)} is no name of a table or column`)
  return raw(text)
}

const names = (all: readonly string[]): Sql => join(all.map(name))

export type Row = Readonly<Record<string, unknown>>

/** The columns of a table that are kept. */
export const columnsOf = ({ without = [] }: Table, row: Row): string[] =>
  Object.keys(row).filter((column) => !without.includes(column))

/** The rows after one, by key. */
export function listRowsAfter(db: Reader, { name: of, key }: Table, last: Row | undefined, limit: number) {
  const after = last === undefined ? empty : sql`WHERE (${names(key)}) > (${join(key.map((column) => last[column]))})`
  return db.all<Row>(sql`SELECT * FROM ${name(of)} ${after} ORDER BY ${names(key)} LIMIT ${limit}`)
}

export async function countRows(db: Reader, of: string): Promise<number> {
  const [row] = await db.all<{ count: number }>(sql`SELECT COUNT(*) AS count FROM ${name(of)}`)
  return row?.count ?? 0
}

/** SQLite takes 32,766 values in a statement, PostgreSQL 65,535; few rows more a statement gain nothing. */
const valuesPerStatement = 1000

export async function insertRows(
  tx: Tx,
  of: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const together = Math.max(1, Math.floor(valuesPerStatement / columns.length))
  for (let at = 0; at < rows.length; at += together) {
    const lines = rows.slice(at, at + together).map((row) => sql`(${join([...row])})`)
    await tx.all(sql`INSERT INTO ${name(of)} (${names(columns)}) VALUES ${join(lines)}`)
  }
}

/** Behind those that refer to them, the rows go that a new schema comes with. */
export async function deleteAllRows(tx: Tx): Promise<void> {
  const there = new Set(await listTables(tx))
  for (const { name: of } of [...keptTables].reverse()) if (there.has(of)) await tx.all(sql`DELETE FROM ${name(of)}`)
}

/** The last number that each table has given to a row: none is given twice, also where the row is gone. */
export async function listLastIds(db: Reader): Promise<Record<string, number>> {
  const rows = await db.all<{ name: string; last: number }>(lastIds(db))
  return Object.fromEntries(rows.filter((row) => !leftOut(row.name)).map((row) => [row.name, Number(row.last)]))
}

export async function updateLastId(tx: Tx, of: string, last: number): Promise<void> {
  for (const statement of continueIds(tx, of, last)) await tx.all(statement)
}

/** Everything of Parley's, and nothing of anybody else's. */
export async function dropTables(tx: Tx): Promise<void> {
  const own = (await listTables(tx)).filter((one) => leftOut(one) || keptTables.some(({ name }) => name === one))
  if (own.length > 0) await tx.all(sql`DROP TABLE ${names(own)} CASCADE`)
  await tx.all(raw('DROP FUNCTION IF EXISTS search_note, search_find, box_note, box_guest'))
}

/** Other clients of this database that go by the same name as this one, or by that of a node's wake-ups: Parley's own, on PostgreSQL. */
export async function countOthers(tx: Tx): Promise<number> {
  const [row] = await tx.all<{ count: number }>(sql`
    SELECT COUNT(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND (application_name IN ('parley', current_setting('application_name')) OR application_name LIKE 'parley\\_%')`)
  return row?.count ?? 0
}
