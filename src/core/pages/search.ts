/** Search for people: in one project or in all, with filters, facets, and the parts of the query one by one. */

import { ownWords } from '../../base/preamble.ts'
import { type Excerpt, excerpt } from '../../fulltext/excerpt.ts'
import { plainly } from '../../fulltext/plain.ts'
import { type Phrase, phrasesOf, type Query } from '../../fulltext/query.ts'
import { type QueryToken, tokensOf } from '../../fulltext/query-parts.ts'
import { searchedLength } from '../../fulltext/words.ts'
import { listFacets } from '../../store/pages/search-filters.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, pageSight } from '../access/rules.ts'
import { type Hub, longReader } from '../hub/hub.ts'
import type { Importance } from '../messages/send.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { findAsked, noteOf, readAsked, suggestBeginnings } from '../search/asking.ts'
import { idsCalled, type SearchFilter } from '../search/filters.ts'
import { listWithRows, type PageMessage } from './page-message.ts'

export interface SearchWish {
  readonly query: string
  /** Slug or key. */
  readonly project?: string | undefined
  /** Where words without a field are looked for. */
  readonly scope?: 'subject' | 'body' | 'both' | undefined
  readonly order?: 'relevance' | 'time' | undefined
  /** Words in the subject count more. */
  readonly boost?: boolean | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly importance?: Importance | undefined
  readonly unread?: boolean | undefined
  readonly attachments?: boolean | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** From 1. */
  readonly page?: number | undefined
  readonly limit: number
}

interface Count {
  readonly value: string
  readonly count: number
}

interface SearchResult extends PageMessage {
  readonly snippet: Excerpt
  /** The subject, with its matches. */
  readonly title: Excerpt
  readonly score: number
}

interface SearchPage {
  readonly results: readonly SearchResult[]
  /** How many there are in all; at least so many, if `capped`. */
  readonly total: number
  /** Of more matches than these only the newest are ranked and counted. */
  readonly capped: boolean
  /** The number of the next page. */
  readonly next: number | undefined
  readonly facets: Readonly<Record<'project' | 'sender' | 'importance' | 'month', readonly Count[]>>
  readonly tokens: readonly QueryToken[]
  /** Where nothing was found: the same query by the beginnings of words, which finds something. */
  readonly suggestion: string | undefined
  /** Why the form of the query keeps it from finding what it seems to ask for. */
  readonly note: string | undefined
}

const boosted = 4

/** The filters of the query hold beside those of the wish. Without words the newest that fit are listed. */
export async function searchMail(hub: Hub, caller: Caller, wish: SearchWish): Promise<SearchPage> {
  const { scope = 'both', order = 'relevance', boost = false, page = 1, limit } = wish
  const asked = await readAsked(hub, wish.query, { of: agentOf(caller)?.agentId, projects: true })
  const sight = pageSight(caller)
  const project = asked.project ?? wish.project
  const projectId = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  const filter = [...asked.filter, ...(await besideQuery(hub, caller, wish))]
  const query = asked.query && within(asked.query, scope)
  const phrases = query === undefined ? [] : phrasesOf(query)
  const wordless = query === undefined
  const filtered = filter.length > 0 || projectId !== undefined
  const wanted = !wordless || (filtered && asked.blank)
  const place = { pages: sight, projectId, filter, listing: wordless }
  const { ranked, capped, walked } = wanted
    ? await findAsked(hub, place, { query, phrases, subjectWeight: boost ? boosted : 1 })
    : { ranked: [], capped: false, walked: false }
  const all = order === 'time' ? ranked.toSorted((a, b) => b.id - a.id) : ranked
  const shown = all.slice((page - 1) * limit, page * limit)
  const scores = new Map(shown.map(({ id, score }) => [id, score]))
  const seen = await listWithRows(
    hub,
    sight,
    shown.map(({ id }) => id),
    { length: searchedLength },
  )
  return {
    results: seen.map(({ message, row }) => ({
      ...message,
      snippet: snippetOf(ownWords(row.sender, row.body), phrases.filter(of('body'))),
      title: excerpt(message.subject, phrases.filter(of('subject'))),
      score: scores.get(message.id) ?? 0,
    })),
    total: all.length,
    capped,
    next: all.length > page * limit ? page + 1 : undefined,
    facets: await facetsOf(
      hub,
      all.map(({ id }) => id),
    ),
    tokens: tokensOf(asked.text),
    note: noteOf(asked.blank && filtered ? { notes: [] } : asked, { walked }),
    suggestion: all.length === 0 ? await suggestBeginnings(hub, place, asked) : undefined,
  }
}

/** The filters of the form. */
async function besideQuery(hub: Hub, caller: Caller, wish: SearchWish): Promise<SearchFilter> {
  const of = agentOf(caller)?.agentId
  const { from, to, importance, unread, attachments, since, until } = wish
  return [
    ...(from === undefined ? [] : [{ by: 'sender', ids: await idsCalled(hub, from) } as const]),
    ...(to === undefined ? [] : [{ by: 'recipient', ids: await idsCalled(hub, to) } as const]),
    ...(importance === undefined ? [] : [{ by: 'importance', word: importance } as const]),
    ...(unread ? [{ by: 'unread', of } as const] : []),
    ...(attachments ? [{ by: 'attached' } as const] : []),
    ...(since === undefined ? [] : [{ by: 'since', at: since } as const]),
    ...(until === undefined ? [] : [{ by: 'until', at: until } as const]),
  ]
}

/** Without the signs of Markdown, unless the match is far down in a long body. */
function snippetOf(body: string, phrases: readonly Phrase[]): Excerpt {
  const plain = excerpt(plainly(body.slice(0, plainLength)), phrases)
  return plain.matches.length > 0 || body.length <= plainLength ? plain : excerpt(body, phrases)
}

const plainLength = 8000

const of =
  (name: 'subject' | 'body') =>
  ({ field }: Phrase): boolean =>
    field === undefined || field === name

/** Words without a field are looked for in this one. */
function within(query: Query, scope: 'subject' | 'body' | 'both'): Query {
  if (scope === 'both') return query
  switch (query.kind) {
    case 'phrase':
      return { ...query, field: query.field ?? scope }
    case 'or':
      return { ...query, any: query.any.map((one) => within(one, scope)) }
    case 'and':
      return {
        ...query,
        all: query.all.map((one) => within(one, scope)),
        but: query.but.map((one) => within(one, scope)),
      }
  }
}

const mostValues = 12

async function facetsOf(hub: Hub, ids: readonly number[]): Promise<SearchPage['facets']> {
  const rows = await listFacets(longReader(hub), ids)
  const slugs = new Map<number, string>()
  for (const { project_id, sender_project } of rows)
    for (const id of [project_id, sender_project]) if (!slugs.has(id)) slugs.set(id, await slugOfProject(hub, id))
  const count = (nameOf: (row: (typeof rows)[number]) => string): Count[] => {
    const counts = new Map<string, number>()
    for (const row of rows) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + 1)
    return [...counts]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, mostValues)
  }
  return {
    project: count(({ project_id }) => slugs.get(project_id) ?? ''),
    sender: count(({ sender, sender_project }) => `${sender}@${slugs.get(sender_project)}`),
    importance: count(({ importance }) => importance),
    month: count(({ created_at }) => new Date(created_at).toISOString().slice(0, 7)).sort((a, b) =>
      a.value < b.value ? 1 : -1,
    ),
  }
}
