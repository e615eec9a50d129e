/** The search index on SQLite: a row of FTS5 tables that a projection fills, each small enough to be searched in one go. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { systemClock } from '../../base/clock.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { Field, Phrase, Query } from '../../fulltext/query.ts'
import { type Document, listDocuments, listWithin } from './documents.ts'
import type { Finder, Finding } from './search.ts'

/**
 * A prefix gathers all its words before the first hit, common words that never meet are followed to the end, and merges
 * rewrite the table: all this grows with a table and holds up everybody. With a million words (some 17,000 messages)
 * it takes about 10 ms; a prefix that a sixth of all words share took 28. Past that the next table is begun.
 */
const wordsInPart = 1_000_000

/** One step of indexing takes some 2 ms; a single message may have more bytes. */
const messagesPerStep = 32
const bytesPerStep = 16_000

/** A step writes some 15 pages, and merges what it finds of this many segments of a size: 32 pages keep up with that. */
const segmentsToMerge = 8
const mergedWithStep = 32

/** One step of merging a full part takes some 3 ms. */
const pagesPerStep = 64

export const countedAtOnce = 1000

const tableOf = (part: number): Sql => raw(`search_${part}`)

/** Words that never meet take some 10 ms of each part. Others wait for the thread that looks for them. */
const sliceMs = 20

/** The newest part first, and no further than needed. The rest is the number of a part. */
export async function listFound(
  db: Reader,
  { query, scope }: { query: Query; scope: string | undefined },
  { limit, ids = [], rest = Number.MAX_SAFE_INTEGER, ms = sliceMs }: Finder,
): Promise<Finding> {
  const matchAnywhere = expression(query)
  const matchInScope = `(${matchAnywhere} OR "${noWord}") AND scope : "${scope}"`
  const parts = await db.all<{ part: number; scopes: string }>(
    sql`SELECT part, scopes FROM search_parts WHERE part <= ${rest} ORDER BY part DESC`,
  )
  const found = [...ids]
  const until = systemClock.monotonic() + ms
  for (const [at, { part, scopes }] of parts.entries()) {
    const table = tableOf(part)
    const match = scope === undefined || wordsIn(scopes).includes(scope) ? matchAnywhere : matchInScope
    const rows = await db.all<{ id: number }>(sql`
      SELECT rowid AS id FROM ${table} WHERE ${table} MATCH ${match} ORDER BY rowid DESC LIMIT ${limit - found.length}`)
    for (const { id } of rows) found.push(id)
    if (found.length === limit) break
    if (systemClock.monotonic() >= until) return { ids: found, rest: parts[at + 1]?.part }
  }
  return { ids: found, rest: undefined }
}

/**
 * FTS5 steps through all terms of an AND at once, also through a scope that holds everything. A query with this as its
 * alternative, a character that fulltext/words.ts drops from every text, is answered before the scope is asked: two thirds
 * of the time.
 */
const noWord = '\u00ad'

/** Words are letters and digits (fulltext/words.ts): nothing in them could end the quotes. */
function expression(query: Query): string {
  switch (query.kind) {
    case 'phrase':
      return `{${columns(query)}} : "${query.words.join(' ')}"${query.prefix ? ' *' : ''}`
    case 'or':
      return `(${query.any.map(expression).join(' OR ')})`
    case 'and': {
      const all = `(${query.all.map(expression).join(' AND ')})`
      return query.but.length === 0 ? all : `(${all} NOT (${query.but.map(expression).join(' OR ')}))`
    }
  }
}

const columnOf: Readonly<Record<Field, string>> = { subject: 'subject', body: 'body', from: 'sender', thread: 'thread' }

const columns = ({ field }: Phrase): string => (field === undefined ? 'subject body' : columnOf[field])

export async function findNewest(db: Reader): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(sql`SELECT MAX(id) AS id FROM messages`)
  return row?.id ?? 0
}

export async function countUnindexed(db: Reader, id: number): Promise<number> {
  const [row] = await db.all<{ last_id: number }>(sql`SELECT last_id FROM search_parts ORDER BY part DESC LIMIT 1`)
  return Math.max(id - (row?.last_id ?? 0), 0)
}

const wordsIn = (scopes: string): readonly string[] => scopes.split(' ')

interface Part {
  part: number
  last_id: number
  words: number
  /** The scopes that all its messages are in: there the scope need not be asked for, which takes more than half of the time of two words. */
  scopes: string
}

/** The watermark is read and moved in the transaction that adds the rows: several processes may do this at once. */
export async function indexNext(tx: Tx): Promise<boolean> {
  const [last] = await tx.all<Part>(
    sql`SELECT part, last_id, words, scopes FROM search_parts ORDER BY part DESC LIMIT 1`,
  )
  const next = sql`
    SELECT id, octet_length(body) AS size FROM messages WHERE id > ${last?.last_id ?? 0} ORDER BY id LIMIT ${messagesPerStep}`
  const ids = await listWithin(tx, next, bytesPerStep)
  const newest = ids.at(-1)
  if (newest === undefined) return false
  const open = last !== undefined && last.words < wordsInPart ? last : await insertPart(tx, last)
  let words = open.words
  let scopes = wordsIn(open.scopes)
  for (const document of await listDocuments(tx, ids)) {
    // The first message of a part is in all that hold so far.
    scopes = words === 0 ? document.scopes : scopes.filter((scope) => document.scopes.includes(scope))
    words += await insertDocument(tx, open.part, document)
  }
  await merge(tx, open.part, mergedWithStep)
  await tx.all(sql`
    UPDATE search_parts SET last_id = ${newest}, words = ${words}, scopes = ${scopes.join(' ')} WHERE part = ${open.part}`)
  return true
}

/**
 * The words come as fulltext/words.ts has cut them: `ascii` parts them at the spaces and leaves the letters as they are.
 * FTS5 merges by pages; with pages of a quarter of the usual size the longest commit takes 14 ms instead of 25. By itself it
 * would merge as much as has gathered, inside of any insertion: each step merges a little instead.
 */
async function insertPart(tx: Tx, last: Part | undefined): Promise<Part> {
  const made = { part: (last?.part ?? 0) + 1, last_id: last?.last_id ?? 0, words: 0, scopes: '' }
  const table = tableOf(made.part)
  await tx.all(sql`
    CREATE VIRTUAL TABLE IF NOT EXISTS ${table}
    USING fts5(subject, body, sender, thread, scope, content='', tokenize='ascii')`)
  // It may be there from an index that was given up.
  await tx.all(sql`INSERT INTO ${table} (${table}) VALUES ('delete-all')`)
  await tx.all(sql`INSERT INTO ${table} (${table}, rank) VALUES ('pgsz', 1000)`)
  await tx.all(sql`INSERT INTO ${table} (${table}, rank) VALUES ('automerge', 0)`)
  await tx.all(sql`INSERT INTO ${table} (${table}, rank) VALUES ('crisismerge', 1000)`)
  // A number that is bound counts as a fraction, which FTS5 does not take here.
  await tx.all(sql`INSERT INTO ${table} (${table}, rank) VALUES ('usermerge', ${raw(String(segmentsToMerge))})`)
  await tx.all(sql`INSERT INTO search_parts (part, last_id, words) VALUES (${made.part}, ${made.last_id}, 0)`)
  return made
}

/** Returns how many words that were. */
async function insertDocument(tx: Tx, part: number, { id, words, scopes }: Document): Promise<number> {
  const { subject, body, from, thread } = words
  await tx.all(sql`
    INSERT INTO ${tableOf(part)} (rowid, subject, body, sender, thread, scope)
    VALUES (${id}, ${subject.join(' ')}, ${body.join(' ')}, ${from.join(' ')}, ${thread.join(' ')}, ${scopes.join(' ')})`)
  return subject.length + body.length + from.length + thread.length + scopes.length
}

/** A part that is full, but not yet in one piece. */
export async function findUnmerged(db: Reader): Promise<number | undefined> {
  const [row] = await db.all<{ part: number }>(sql`
    SELECT part FROM search_parts WHERE merged = 0 AND part < (SELECT MAX(part) FROM search_parts) ORDER BY part LIMIT 1`)
  return row?.part
}

/** A part in one segment instead of a dozen costs a third to search. */
export async function mergeNext(tx: Tx): Promise<boolean> {
  const part = await findUnmerged(tx)
  if (part === undefined) return false
  const before = await countChanges(tx)
  await merge(tx, part, -pagesPerStep)
  // Fewer than two changes mean that nothing is left to merge: https://www.sqlite.org/fts5.html#the_merge_command
  if ((await countChanges(tx)) - before < 2) await tx.all(sql`UPDATE search_parts SET merged = 1 WHERE part = ${part}`)
  return true
}

/** Up to so many pages; a negative number merges all segments, a positive one those that are enough of a size. */
async function merge(tx: Tx, part: number, pages: number): Promise<void> {
  const table = tableOf(part)
  await tx.all(sql`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${pages})`)
}

async function countChanges(tx: Tx): Promise<number> {
  const [row] = await tx.all<{ changes: number }>(sql`SELECT total_changes() AS changes`)
  return row?.changes ?? 0
}

/** FTS5 takes a row out of a table without content only with the very words that it was given: the whole part goes later. */
export async function forgetWords(_tx: Tx, _ids: readonly number[]): Promise<void> {}

/** The newest part stays: it holds the watermark. */
export async function forgetNext(tx: Tx): Promise<boolean> {
  const [gone] = await tx.all<{ part: number }>(sql`
    SELECT p.part FROM search_parts p
    WHERE p.part < (SELECT MAX(part) FROM search_parts) AND NOT EXISTS (
      SELECT 1 FROM messages m
      WHERE m.id <= p.last_id AND m.id > COALESCE((SELECT MAX(o.last_id) FROM search_parts o WHERE o.part < p.part), 0))
    ORDER BY p.part LIMIT 1`)
  if (gone === undefined) return false
  await emptyPart(tx, gone.part)
  return true
}

async function emptyPart(tx: Tx, part: number): Promise<void> {
  const table = tableOf(part)
  await tx.all(sql`INSERT INTO ${table} (${table}) VALUES ('delete-all')`)
  await tx.all(sql`DELETE FROM search_parts WHERE part = ${part}`)
}

/** Empties the oldest part. The newest goes last, for it holds the watermark; the tables stay, somebody may be reading. */
export async function resetNext(tx: Tx, from: number): Promise<number | undefined> {
  const [first] = await tx.all<{ part: number }>(sql`
    SELECT part FROM search_parts WHERE part > ${from} ORDER BY part LIMIT 1`)
  if (first === undefined) return undefined
  await emptyPart(tx, first.part)
  return first.part
}
