/** The indexed part of a message, on either engine. */
import sql, { type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import type { Field } from '../../fulltext/query.ts'
import { searchedLength, wordsOf } from '../../fulltext/words.ts'
import { subject, threadNames } from '../visibility.ts'

export interface Document {
  readonly id: number
  readonly words: Readonly<Record<Field, readonly string[]>>
  /** The scopes that it is found in, a word each (`scopeWord` in search.ts). */
  readonly scopes: readonly string[]
}

/**
 * Names are indexed as they are at that time: messages that were indexed before a topic was renamed are found by its old
 * name. Recipients are not indexed at all: no search can tell of a blind copy (mail.search.bcc).
 */
export async function listDocuments(db: Reader, ids: readonly number[]): Promise<Document[]> {
  const rows = await db.all<{ id: number; scopes: string } & Record<Field, string>>(sql`
    SELECT m.id, ${subject} AS subject, substr(m.body, 1, ${searchedLength}) AS body, a.name AS "from",
      ${threadNames} AS thread,
      'thread' || t.id || ' project' || t.project_id || CASE WHEN t.name IS NULL THEN '' ELSE ' topics' || t.project_id END
        || COALESCE((SELECT string_agg(' project' || g.project_id, '') FROM message_guests g
                     WHERE g.message_id = m.id AND g.project_id <> t.project_id), '') AS scopes
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.id IN ${listed(db, ids)} ORDER BY m.id`)
  return rows.map(({ id, subject, body, from, thread, scopes }) => ({
    id,
    words: { subject: wordsOf(subject), body: wordsOf(body), from: wordsOf(from), thread: wordsOf(thread) },
    scopes: scopes.split(' '),
  }))
}

/** The first messages of `source` (id and size, in order) that have at most so many bytes together, and one at least. */
export async function listWithin(db: Reader, source: Sql, bytes: number): Promise<number[]> {
  const rows = await db.all<{ id: number }>(sql`
    SELECT id FROM (SELECT id, size, SUM(size) OVER (ORDER BY id) AS total FROM (${source}) AS next) AS summed
    WHERE total <= ${bytes} OR total = size ORDER BY id`)
  return rows.map(({ id }) => id)
}
