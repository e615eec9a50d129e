/** Rows of people at the pages: how far each has seen the mail, and the searches that each keeps. */
import sql, { type Sql } from 'sql-template-tag'
import { nameKey } from '../../base/names.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { listedIn, type Sight } from '../visibility.ts'

export interface PersonRow {
  floor_id: number | null
  floor_at: number | null
  visited_at: number | null
  /** A thread that was read since the floor, and how far; null in the only row of a person that has read none. */
  thread_id: number | null
  seen_id: number | null
  seen_at: number | null
  /** Of a search that the person keeps: then all above is null. */
  path: string | null
  title: string | null
}

/** A row for each thread that the person has read since the floor, and at least one; then its searches. None of a stranger. */
export function listMarks(db: Reader, person: string): Promise<PersonRow[]> {
  return db.all<PersonRow>(sql`
    SELECT p.floor_id, p.floor_at, p.visited_at, k.thread_id, k.seen_id, k.seen_at, CAST(NULL AS TEXT) AS path,
      CAST(NULL AS TEXT) AS title
    FROM people p LEFT JOIN seen_threads k ON k.person = p.person AND k.seen_id > p.floor_id WHERE p.person = ${person}
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, s.path, s.title FROM saved_searches s
    WHERE s.person = ${person} AND EXISTS (SELECT 1 FROM people p WHERE p.person = s.person)`)
}

/** So many messages are looked back through for the first of a day. */
const lookedBack = 20_000

const newestId = sql`(SELECT COALESCE(MAX(id), 0) FROM messages)`

/** The newest message from before a time, or the one so many before the newest. */
export async function findFloor(db: Reader, before: number): Promise<number> {
  const [row] = await db.all<{ id: number }>(sql`
    SELECT COALESCE(
      (SELECT id FROM messages WHERE id > ${newestId} - ${lookedBack} AND created_at < ${before} ORDER BY id DESC LIMIT 1),
      ${newestId} - ${lookedBack}) AS id`)
  return Math.max(0, Number(row?.id ?? 0))
}

export async function insertPerson(tx: Tx, person: string, { floor, at, now }: Visit): Promise<void> {
  await tx.all(sql`
    INSERT INTO people (person, floor_id, floor_at, visited_id, visited_at)
    VALUES (${person}, ${floor}, ${at}, ${newestId}, ${now}) ON CONFLICT DO NOTHING`)
}

interface Visit {
  readonly floor: number
  readonly at: number
  readonly now: number
}

/** The visit goes on. */
export const updateVisit = (tx: Tx, person: string, now: number): Promise<number> =>
  tx.change(sql`UPDATE people SET visited_id = ${newestId}, visited_at = ${now} WHERE person = ${person}`)

/** A new visit: everything up to the end of the last one is seen, or everything there is. */
export async function raiseFloor(tx: Tx, person: string, { now, whole = false }: Raise): Promise<void> {
  const [id, at]: Sql[] = whole ? [newestId, sql`${now}`] : [sql`visited_id`, sql`visited_at`]
  await tx.change(sql`
    UPDATE people SET floor_id = ${id}, floor_at = ${at}, visited_id = ${newestId}, visited_at = ${now}
    WHERE person = ${person}`)
  await tx.change(sql`
    DELETE FROM seen_threads WHERE person = ${person}
      AND seen_id <= (SELECT floor_id FROM people WHERE person = ${person})`)
}

interface Raise {
  readonly now: number
  readonly whole?: boolean
}

export async function updateSeen(
  tx: Tx,
  person: string,
  { threadId, seenId, now }: { threadId: number; seenId: number; now: number },
): Promise<void> {
  await tx.all(sql`
    INSERT INTO seen_threads (person, thread_id, seen_id, seen_at) VALUES (${person}, ${threadId}, ${seenId}, ${now})
    ON CONFLICT (person, thread_id) DO UPDATE SET seen_id = excluded.seen_id, seen_at = excluded.seen_at
    WHERE seen_threads.seen_id < excluded.seen_id`)
}

/** Browsers that have not come for long; of a name the searches stay. */
export async function deleteGone(tx: Tx, before: number): Promise<void> {
  const gone = sql`SELECT person FROM people WHERE visited_at < ${before} AND person LIKE 'browser:%' LIMIT 100`
  for (const table of [sql`seen_threads`, sql`saved_searches`, sql`people`])
    await tx.change(sql`DELETE FROM ${table} WHERE person IN (SELECT person FROM (${gone}) AS gone)`)
}

export interface NewRow {
  thread_id: number
  project_id: number
  count: number
  /** How many messages there are after the floor, at most one more than are looked at. */
  after_floor: number
}

interface NewQuery {
  readonly person: string
  /** The key of the person's name; undefined for a browser. */
  readonly nameKey: string | undefined
  readonly floor: number
  readonly sight: Sight
  /** So many of the newest are looked at. */
  readonly most: number
}

/** How many messages of each thread are new to a person, who wrote none of them. */
export function listNew(db: Reader, { person, nameKey: key, floor, sight, most }: NewQuery): Promise<NewRow[]> {
  return db.all<NewRow>(sql`
    SELECT m.thread_id, t.project_id, COUNT(*) AS count,
      (SELECT COUNT(*) FROM (SELECT 1 FROM messages WHERE id > ${floor} LIMIT ${most + 1}) AS after) AS after_floor
    FROM (SELECT id, thread_id, sender_id FROM messages WHERE id > ${floor} ORDER BY id DESC LIMIT ${most}) AS m
    JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    LEFT JOIN seen_threads k ON k.person = ${person} AND k.thread_id = m.thread_id
    WHERE t.status <> 'deleted' AND m.id > COALESCE(k.seen_id, 0) AND ${listedIn(sight)}
      AND NOT (a.name_key = 'humanoverseer' AND ${wroteIt(key)})
    GROUP BY m.thread_id, t.project_id`)
}

interface FirstNewQuery extends Pick<NewQuery, 'nameKey' | 'sight'> {
  readonly threadId: number
  /** Bounds of ids, without themselves. */
  readonly above: number
  readonly below: number
}

/** The oldest message of a thread between two ids that is new to a person. */
export async function findFirstNew(
  db: Reader,
  { threadId, above, below, nameKey: key, sight }: FirstNewQuery,
): Promise<number | undefined> {
  const [row] = await db.all<{ id: number }>(sql`
    SELECT m.id FROM messages m JOIN agents a ON a.id = m.sender_id
    WHERE m.thread_id = ${threadId} AND m.id > ${above} AND m.id < ${below} AND m.seq > COALESCE(
        (SELECT seq FROM messages WHERE thread_id = ${threadId} AND id <= ${above} ORDER BY seq DESC LIMIT 1), 0)
      AND ${listedIn(sight)} AND NOT (a.name_key = 'humanoverseer' AND ${wroteIt(key)})
    ORDER BY m.seq LIMIT 1`)
  return row?.id
}

/** A browser without a name wrote what no named person did. A value: of an EXISTS PostgreSQL would make a table of all. */
const wroteIt = (key: string | undefined): Sql =>
  sql`COALESCE((SELECT w.name_key FROM message_people w WHERE w.message_id = m.id), '') = ${key ?? ''}`

/** The person who wrote a message as HumanOverseer. */
export async function insertAuthor(tx: Tx, messageId: number, name: string): Promise<void> {
  await tx.all(
    sql`INSERT INTO message_people (message_id, name, name_key) VALUES (${messageId}, ${name}, ${nameKey(name)})`,
  )
}

interface Saving {
  readonly path: string
  readonly title: string
  readonly now: number
}

export async function countSaved(db: Reader, person: string): Promise<number> {
  const [row] = await db.all<{ count: number }>(
    sql`SELECT COUNT(*) AS count FROM saved_searches WHERE person = ${person}`,
  )
  return Number(row?.count ?? 0)
}

export async function insertSaved(tx: Tx, person: string, { path, title, now }: Saving): Promise<void> {
  await tx.all(sql`
    INSERT INTO saved_searches (person, path, title, saved_at) VALUES (${person}, ${path}, ${title}, ${now})
    ON CONFLICT (person, path) DO UPDATE SET title = excluded.title`)
}

export const deleteSaved = (tx: Tx, person: string, path: string): Promise<number> =>
  tx.change(sql`DELETE FROM saved_searches WHERE person = ${person} AND path = ${path}`)
