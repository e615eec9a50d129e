/** The search index on PostgreSQL: a vector of words for each message, made from the notes of a trigger. */
import sql, { join } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { Field, Phrase, Query } from '../../fulltext/query.ts'
import { type Document, listDocuments, listWithin } from './documents.ts'
import type { Finder, Finding } from './search.ts'

/** The weight of a word tells the field it stands in. */
const weights: Readonly<Record<Field, string>> = { subject: 'A', body: 'B', from: 'C', thread: 'D' }

/** Texts are counted by the program here: so many take some 1 to 2 ms of its event loop. */
export const countedAtOnce = 200

export async function listFound(
  db: Reader,
  { query, scope }: { query: Query; scope: string | undefined },
  { limit }: Finder,
): Promise<Finding> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT id FROM search_find(${`${expression(query)}${scope === undefined ? '' : ` & '#${scope}'`}`}::tsquery, ${limit}) AS found (id)`)
  return { ids: rows.map(({ id }) => id), rest: undefined }
}

/** Words are letters and digits (fulltext/words.ts): nothing in them could end the quotes. */
function expression(query: Query): string {
  switch (query.kind) {
    case 'phrase':
      return `(${row(query)})`
    case 'or':
      return `(${query.any.map(expression).join(' | ')})`
    case 'and':
      return `(${[...query.all.map(expression), ...query.but.map((one) => `!${expression(one)}`)].join(' & ')})`
  }
}

function row({ words, prefix, field }: Phrase): string {
  const weight = field === undefined ? weights.subject + weights.body : weights[field]
  const last = words.length - 1
  return words.map((word, at) => `'${word}':${prefix && at === last ? '*' : ''}${weight}`).join(' <-> ')
}

export async function findNewest(db: Reader): Promise<number> {
  const [row] = await db.all<{ id: number | null }>(sql`SELECT MAX(message_id) AS id FROM search_pending`)
  return row?.id ?? 0
}

export async function countUnindexed(db: Reader, id: number): Promise<number> {
  const pending = await db.all(sql`SELECT 1 FROM search_pending WHERE message_id <= ${id} LIMIT 1`)
  return pending.length
}

/** One step takes some 20 ms of the server, 5 ms of this process. A single message may have more bytes. */
const messagesPerStep = 200
const bytesPerStep = 100_000

/** Waits for others that index the same messages; finished ones are gone from the list then. */
export async function indexNext(tx: Tx): Promise<boolean> {
  const next = sql`
    SELECT p.message_id AS id, COALESCE(octet_length(m.body), 0) AS size
    FROM search_pending p LEFT JOIN messages m ON m.id = p.message_id ORDER BY p.message_id LIMIT ${messagesPerStep}`
  const ids = await listWithin(tx, next, bytesPerStep)
  if (ids.length === 0) return false
  const taken = await tx.all<{ id: number }>(sql`
    DELETE FROM search_pending WHERE message_id IN (
      SELECT message_id FROM search_pending WHERE message_id IN ${listed(tx, ids)} ORDER BY message_id FOR UPDATE)
    RETURNING message_id AS id`)
  const documents = await listDocuments(
    tx,
    taken.map(({ id }) => id),
  )
  const rows = documents.map((document) => ({ id: document.id, words: vector(document) }))
  await tx.all(sql`
    INSERT INTO search_words (message_id, words)
    SELECT id, words::tsvector FROM json_to_recordset(${JSON.stringify(rows)}::json) AS row (id BIGINT, words TEXT)
    ON CONFLICT (message_id) DO UPDATE SET words = EXCLUDED.words`)
  return true
}

/** PostgreSQL counts no further: from here on words are found, but not rows of words. */
const lastPlace = 16_383

/**
 * Each field begins a place further than the last one ended, lest a row of words be found that begins in one field and
 * ends in the next. The '#' is in no word, so that no text can put a message into a scope.
 */
function vector({ words, scopes }: Document): string {
  const parts = scopes.map((scope) => `'#${scope}'`)
  let place = 0
  for (const field of ['subject', 'from', 'thread', 'body'] as const) {
    place++
    for (const word of words[field]) parts.push(`'${word}':${Math.min(++place, lastPlace)}${weights[field]}`)
  }
  return parts.join(' ')
}

/** PostgreSQL merges by itself. */
export async function findUnmerged(_db: Reader): Promise<number | undefined> {
  return undefined
}

export async function mergeNext(_tx: Tx): Promise<boolean> {
  return false
}

export async function forgetWords(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.all(sql`DELETE FROM search_words WHERE message_id IN (${join([...ids])})`)
  await tx.all(sql`DELETE FROM search_pending WHERE message_id IN (${join([...ids])})`)
}

export async function forgetNext(_tx: Tx): Promise<boolean> {
  return false
}

const messagesPerReset = 1000

/** Notes the next messages again. Until its turn comes each is found by the words it has. */
export async function resetNext(tx: Tx, from: number): Promise<number | undefined> {
  const ids = await tx.all<{ id: number }>(
    sql`SELECT id FROM messages WHERE id > ${from} ORDER BY id LIMIT ${messagesPerReset}`,
  )
  const last = ids.at(-1)?.id
  if (last === undefined) return undefined
  await tx.all(sql`
    INSERT INTO search_pending (message_id) SELECT id FROM messages WHERE id > ${from} AND id <= ${last}
    ON CONFLICT DO NOTHING`)
  return last
}
