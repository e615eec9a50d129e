/** Finding, counting and ranking what fits a search, in the thread that reads where there is one (`Look` in db/port.ts). */
import { nextTurn } from '../../base/clock.ts'
import type { Reader } from '../../db/port.ts'
import type { Phrase, Query } from '../../fulltext/query.ts'
import { type Counted, rank } from '../../fulltext/relevance.ts'
import { countedAtOnce, countTexts, type Finding, listFound, type Scope } from '../../store/search/search.ts'

/**
 * Of all matches only the newest are ranked: the commonest word must not cost more than others. With 2,000, two
 * words of middling frequency among a million messages took 30 to 40 ms of CPU; with 1,000 it is half of that.
 */
const mostRanked = 1000
/** Where some of the matches are out of sight, so many are looked through. */
const mostSifted = 10_000

/** Ranked by their beginnings. */
const rankedCharacters = 2000

export interface Counting {
  readonly query: Query
  readonly scope: Scope
  readonly phrases: readonly Phrase[]
  /** How often a word in the subject counts. */
  readonly subjectWeight?: number
}

interface SearchPosition extends Finding {
  readonly limit: number
}

/** The best first: ids, and the score of each. As two lists they cross in a tenth of the time. */
interface Scored {
  readonly ids: readonly number[]
  readonly scores: readonly number[]
  /** There may be more matches, older than these. */
  readonly capped: boolean
}

/**
 * `goesOn`: the search takes long, and goes on from there when it is asked again; others have their turn. Nearly always all
 * that is found is in sight, and the newest thousand are enough.
 */
export async function look(
  db: Reader,
  { query, goesOn, ...counting }: Counting & { readonly goesOn: SearchPosition | undefined },
): Promise<Scored | { readonly goesOn: SearchPosition }> {
  const limit = goesOn?.limit ?? mostRanked
  const { ids, rest } = await listFound(db, { query, scope: counting.scope }, { limit, ...goesOn })
  if (rest !== undefined) return { goesOn: { limit, ids, rest } }
  const counted = await countAll(db, { ids, ...counting })
  if (limit === mostRanked && ids.length === limit && counted.length < limit)
    return { goesOn: { limit: mostSifted, ids: [], rest: undefined } }
  const ranked = rank(counted)
  return {
    ids: ranked.map(({ id }) => id),
    scores: ranked.map(({ score }) => score),
    capped: counted.length >= mostRanked,
  }
}

/** Others have their turn after each page. */
async function countAll(
  db: Reader,
  { ids, scope, phrases, subjectWeight = 1 }: Omit<Counting, 'query'> & { ids: readonly number[] },
): Promise<Counted[]> {
  const counted: Counted[] = []
  const pageSize = countedAtOnce(db)
  for (let at = 0; at < ids.length && counted.length < mostRanked; at += pageSize) {
    if (at > 0) await nextTurn()
    const part = { ids: ids.slice(at, at + pageSize), scope, phrases, length: rankedCharacters }
    for (const { id, subject, body, length } of await countTexts(db, part)) {
      const counts = phrases.map(({ field }, n) => {
        const inSubject = field === undefined || field === 'subject' ? subjectWeight * (subject[n] ?? 0) : 0
        return inSubject + (field === undefined || field === 'body' ? (body[n] ?? 0) : 0)
      })
      counted.push({ id, counts, length })
    }
  }
  return counted
}
