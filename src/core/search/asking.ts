/** A query made ready, and the messages that fit it: words by the index, filters alone by the newest; for pages and tools alike. */
import { moduleBeside } from '../../base/modules.ts'
import { filtersOf } from '../../fulltext/filters.ts'
import { type Phrase, phrasesOf, type Query, readQuery } from '../../fulltext/query.ts'
import type { Ranked } from '../../fulltext/relevance.ts'
import { wordsOf } from '../../fulltext/words.ts'
import { listFitting, mostWalked } from '../../store/search/fitting.ts'
import type { Scope } from '../../store/search/search.ts'
import { type Hub, longReader, lookLong } from '../hub/hub.ts'
import { type SearchFilter, wantedBy } from './filters.ts'
import { catchUp } from './projection.ts'
import type { Counting, look } from './search-look.ts'

const looking = moduleBeside(import.meta.url, 'search-look')

interface AskedQuery {
  readonly text: string
  /** Nothing but filters, if any. */
  readonly blank: boolean
  /** Undefined if there is no word to look for. */
  readonly query: Query | undefined
  readonly phrases: readonly Phrase[]
  readonly filter: SearchFilter
  /** Of the filter `project:`. */
  readonly project: string | undefined
  readonly notes: readonly string[]
}

interface Reading {
  /** The agent whose unread mail is meant. */
  readonly of?: number | undefined
  /** Whether `project:` is understood. */
  readonly projects?: boolean
}

/** No query is too long: of a long one only the beginning is read, for only its first words count. */
const queryLength = 10_000

export async function readAsked(hub: Hub, given: string, { of, projects = false }: Reading = {}): Promise<AskedQuery> {
  const text = given.slice(0, queryLength)
  const { words, filters, notes } = filtersOf(text, { projects })
  const { query, note } = readQuery(words)
  const project = filters.find(({ field }) => field === 'project')?.value
  const blank = words.trim() === ''
  return {
    text,
    blank,
    query,
    phrases: query === undefined ? [] : phrasesOf(query),
    filter: await wantedBy(hub, filters, of),
    project: typeof project === 'string' ? project : undefined,
    // Filters alone are a query too.
    notes: note === undefined || (blank && filters.length > 0) ? notes : [note, ...notes],
  }
}

interface Finding {
  readonly ranked: readonly Ranked[]
  /** There may be more matches, older than these. */
  readonly capped: boolean
  /** Only of a search without words: older messages were not looked through. */
  readonly walked?: boolean
}

/** Without words so many are listed. */
const mostListed = 1000

/** The best first. The scope has the filter; without words and filter nothing is found. */
export async function findAsked(
  hub: Hub,
  scope: Scope,
  { query, phrases, subjectWeight }: Omit<Counting, 'query' | 'scope'> & { readonly query: Query | undefined },
): Promise<Finding> {
  if (query !== undefined) {
    await catchUp(hub)
    return findRanked(hub, { query, scope, phrases, ...(subjectWeight && { subjectWeight }) })
  }
  const { ids, capped } = await listFitting(longReader(hub), scope, mostListed)
  return { ranked: ids.map((id) => ({ id, score: 0 })), capped, walked: capped && ids.length < mostListed }
}

async function findRanked(hub: Hub, counting: Counting): Promise<Finding> {
  let answer = await lookLong<typeof look>(hub, looking, { ...counting, goesOn: undefined })
  while ('goesOn' in answer) answer = await lookLong<typeof look>(hub, looking, { ...counting, goesOn: answer.goesOn })
  const { ids, scores, capped } = answer
  return { ranked: ids.map((id, at) => ({ id, score: scores[at] ?? 0 })), capped }
}

/** So many words of a query that found nothing are tried as the beginning of others. */
const mostTried = 3

/**
 * The query with `word*` for each word that no message in sight has and that others begin with; undefined if there is none
 * (mail.search.begins).
 */
export async function suggestBeginnings(hub: Hub, scope: Scope, asked: AskedQuery): Promise<string | undefined> {
  let text = asked.text
  const single = asked.phrases.filter(({ words, prefix }) => words.length === 1 && !prefix)
  for (const phrase of single.slice(0, mostTried)) {
    const [word = ''] = phrase.words
    const longer = { ...phrase, prefix: true }
    if (word.length < 2 || (await isFound(hub, scope, phrase)) || !(await isFound(hub, scope, longer))) continue
    text = text.replace(/[^\s()":]+/g, (piece) => {
      const [only, ...others] = wordsOf(piece)
      return only === word && others.length === 0 ? `${word}*` : piece
    })
  }
  return text === asked.text ? undefined : text
}

const isFound = async (hub: Hub, scope: Scope, phrase: Phrase): Promise<boolean> =>
  (await findRanked(hub, { query: phrase, scope, phrases: [phrase] })).ranked.length > 0

/** Older messages that fit may be left: which words find those too. */
const notAll = `Only ${mostWalked.toLocaleString('en')} messages were looked through. To find older ones add a word, from: or to:.`

/** All notes on a query in one; a suggestion comes last. */
export function noteOf(
  { notes }: Pick<AskedQuery, 'notes'>,
  { walked = false, suggestion }: { readonly walked?: boolean | undefined; readonly suggestion?: string | undefined },
): string | undefined {
  const all = [
    ...notes,
    ...(walked ? [notAll] : []),
    ...(suggestion === undefined ? [] : [`No message has these words; others begin so. Try: ${suggestion}`]),
  ]
  return all.length === 0 ? undefined : all.join(' ')
}
