/** What the search on SQLite calls from its statements (db/sqlite/calling.ts): every export is such a function. */
import type { Phrase } from '../fulltext/query.ts'
import { tally } from '../fulltext/relevance.ts'

let read: { text: string; phrases: readonly Phrase[] } = { text: '[]', phrases: [] }

/** `CountedText` of search.ts, without the names, which would be read a thousand times. */
export type CountedItem = readonly [id: number, length: number, subject: readonly number[], body: readonly number[]]

/** A `CountedItem` as JSON. `phrases` is the same text for all messages of a search. */
export function countPhrases(phrases: string, id: number, subject: string, body: string): string {
  if (read.text !== phrases) read = { text: phrases, phrases: JSON.parse(phrases) as Phrase[] }
  const [inSubject, inBody] = [tally(subject, read.phrases), tally(body, read.phrases)]
  return `[${id},${inBody.length},[${inSubject.counts}],[${inBody.counts}]]`
}
