/** Search for messages by their words: the part that both engines share. */

import sql, { empty, type Sql } from 'sql-template-tag'
import { can, listed } from '../../db/dialect.ts'
import type { Reader, Tx } from '../../db/port.ts'
import type { Phrase, Query } from '../../fulltext/query.ts'
import { tally } from '../../fulltext/relevance.ts'
import { searchedLength } from '../../fulltext/words.ts'
import { type SearchFilter, searchWhere } from '../pages/search-filters.ts'
import {
  listedIn,
  ofProject,
  type ProjectSight,
  readable,
  type Sight,
  seen,
  sharedName,
  shownSubject,
  subject,
} from '../visibility.ts'
import * as postgres from './postgres.ts'
import * as sqlite from './sqlite.ts'

/**
 * Where to look: in the topics of a project, in all that is in somebody's sight, in what somebody sees of the pages, or in one
 * thread. Another reason to see a
 * message is another scope: a word in `scopeWord`, a condition in `inScope`, and the word in `listDocuments`.
 */
export type Scope =
  | { readonly projectId: number; readonly topics: true; readonly filter?: SearchFilter }
  | { readonly sight: ProjectSight; readonly filter?: SearchFilter }
  | {
      readonly pages: Sight
      readonly projectId: number | undefined
      readonly filter?: SearchFilter
      readonly listing?: boolean
    }
  | { readonly threadId: number; readonly filter?: SearchFilter }

interface Search {
  readonly query: Query
  readonly scope: Scope
}

/** The messages found until now, newest first. */
export interface Finding {
  readonly ids: readonly number[]
  /** Where to go on; undefined if all was found that is wanted. */
  readonly rest: number | undefined
}

export interface Finder extends Partial<Finding> {
  readonly limit: number
  /** After so long it leaves a rest. */
  readonly ms?: number
}

/** The newest messages that fit. It may take long, and then goes on from the rest that it has left. */
export function listFound(db: Reader, { query, scope }: Search, finder: Finder): Promise<Finding> {
  return engine(db).listFound(db, { query, scope: scopeWord(scope) }, finder)
}

/** How often each phrase stands in the beginning of a message. */
interface CountedText {
  readonly id: number
  readonly subject: readonly number[]
  readonly body: readonly number[]
  /** Of the body, in words. */
  readonly length: number
}

interface Counting {
  readonly ids: readonly number[]
  readonly scope: Scope
  readonly phrases: readonly Phrase[]
  /** How many characters of a body are looked through. */
  readonly length: number
}

/** The number of texts that are counted in one go. */
export const countedAtOnce = (db: Reader): number => engine(db).countedAtOnce

/** Messages out of scope are left out. */
export async function countTexts(long: Reader, { ids, scope, phrases, length }: Counting): Promise<CountedText[]> {
  // `substr` would walk through all the letters of a text that is short enough.
  const body = sql`CASE WHEN octet_length(m.body) <= ${length} THEN m.body ELSE substr(m.body, 1, ${length}) END`
  const rows = await long.all<{ id: number; subject: string; body: string }>(sql`
    SELECT m.id, ${subject} AS subject, ${body} AS body
    FROM messages m JOIN threads t ON t.id = m.thread_id ${'sight' in scope || 'pages' in scope ? sql`JOIN agents a ON a.id = m.sender_id` : empty}
    WHERE m.id IN ${listed(long, ids)} AND ${inScope(scope)}`)
  return rows.map(({ id, subject, body }) => {
    const [inSubject, inBody] = [tally(subject, phrases), tally(body, phrases)]
    return { id, subject: inSubject.counts, body: inBody.counts, length: inBody.length }
  })
}

export interface HitRow {
  id: number
  uid: string
  thread_uid: string
  thread_name: string | null
  /** As visibility.ts names it; a message that nobody has answered has none. */
  thread_key: string | null
  seq: number
  subject: string
  sender: string
  sender_project: number
  kind: string
  importance: string
  ack_required: number
  created_at: number
  /** As much of it as is searched. */
  body: string
}

/** The index may lag behind a change of scope, these rows do not: messages out of scope are left out here at the latest. */
export async function listHits(db: Reader, ids: readonly number[], scope: Scope): Promise<HitRow[]> {
  return db.all<HitRow>(sql`
    SELECT m.id, m.uid, t.uid AS thread_uid, t.name AS thread_name, m.seq,
      ${sharedName} AS thread_key, ${shownSubject} AS subject, a.name AS sender, a.project_id AS sender_project, m.kind, m.importance, m.ack_required, m.created_at,
      substr(m.body, 1, ${searchedLength}) AS body
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.id IN ${listed(db, ids)} AND ${inScope(scope)}`)
}

/** The newest message that belongs into the index; 0 if there is nothing to do. */
export function findNewest(db: Reader): Promise<number> {
  return engine(db).findNewest(db)
}

/** About how many messages up to this one cannot be found yet; 0 if all can. On PostgreSQL there are some, or none. */
export function countUnindexed(db: Reader, id: number): Promise<number> {
  return engine(db).countUnindexed(db, id)
}

/** Indexes the next few messages, as many as take some milliseconds; false if there were none. */
export function indexNext(tx: Tx): Promise<boolean> {
  return engine(tx).indexNext(tx)
}

/** A part of the index that could be cheaper to search. */
export function findUnmerged(db: Reader): Promise<number | undefined> {
  return engine(db).findUnmerged(db)
}

/** Works on such a part for some milliseconds; false if there is none. */
export function mergeNext(tx: Tx): Promise<boolean> {
  return engine(tx).mergeNext(tx)
}

/** A step of starting the index anew, from where the last one ended; undefined after the last one. */
export function resetNext(tx: Tx, from: number): Promise<number | undefined> {
  return engine(tx).resetNext(tx, from)
}

/** Takes the words of messages that go out of the index, where that is cheap. What stays is found by nobody: no row answers to it. */
export const forgetWords = (tx: Tx, rows: readonly { id: number }[]): Promise<void> =>
  engine(tx).forgetWords(
    tx,
    rows.map(({ id }) => id),
  )

/** Empties a part of the index whose messages are all gone; false if there is none. */
export const forgetNext = (tx: Tx): Promise<boolean> => engine(tx).forgetNext(tx)

const engine = (db: Reader) => (can(db).fullText === 'fts5' ? sqlite : postgres)

function scopeWord(scope: Scope): string | undefined {
  if ('threadId' in scope) return `thread${scope.threadId}`
  if ('pages' in scope) return scope.projectId === undefined ? undefined : `project${scope.projectId}`
  return 'sight' in scope ? `project${scope.sight.projectId}` : `topics${scope.projectId}`
}

/** A condition for messages `m` of agents `a` in threads `t`. */
export function inScope(scope: Scope): Sql {
  const { filter = [] } = scope
  if ('pages' in scope) return sql`${onPages(scope)} ${searchWhere(scope.pages, filter)}`
  if ('sight' in scope) return sql`${seen(scope.sight)} ${searchWhere(scope.sight, filter)}`
  const place =
    'threadId' in scope ? sql`t.id = ${scope.threadId}` : sql`t.project_id = ${scope.projectId} AND t.name IS NOT NULL`
  return sql`${place} ${searchWhere(topicSight, filter)}`
}

/** The words of topics are for everybody who may see them. */
const topicSight: Sight = { of: 'keyless', granted: [], topics: 'all', blind: 'none', sealed: false }

/** Without words sealed mail is listed, as in every list; by its words it is not found (web.search.sealed). */
const onPages = ({
  pages,
  projectId,
  listing = false,
}: Extract<Scope, { pages: Sight }>): Sql => sql`t.status <> 'deleted'
  AND ${listing ? listedIn(pages) : readable(pages)} ${projectId === undefined ? empty : sql`AND ${ofProject(projectId)}`}`
