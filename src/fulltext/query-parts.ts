/** A query as people see it: its parts one by one, each with the query that is left without it. */

/** Fields that are no words of a message: they choose among messages, and are taken out before words are looked for. */
const filterFields = ['to', 'project'] as const

type FilterField = (typeof filterFields)[number]

export interface QueryToken {
  readonly text: string
  /** The query without it. */
  readonly without: string
}

/** As fulltext/query.ts cuts a query, with the two fields of this file. */
const pattern = /([()])|(-?(?:[a-z]+:)?(?:"[^"]*"|[^\s()"]+))/gi

const operator = /^(?:AND|OR|NOT)$/

/** The terms of a query, without its operators and parentheses. An operator goes with the term that it leads to. */
export function tokensOf(query: string): QueryToken[] {
  const terms = [...query.matchAll(pattern)].map((match) => ({ text: match[0], at: match.index }))
  return terms.flatMap(({ text, at }, n) => {
    if (operator.test(text) || text === '(' || text === ')') return []
    const before = terms[n - 1]
    const after = terms[n + 1]
    const from = before !== undefined && operator.test(before.text) ? before.at : at
    // The first of several leaves the operator behind it.
    const until =
      at === from && after !== undefined && operator.test(after.text) && after.text !== 'NOT' && n === 0
        ? after.at + after.text.length
        : at + text.length
    return [{ text, without: `${query.slice(0, from)} ${query.slice(until)}`.replace(/\s+/g, ' ').trim() }]
  })
}

/** The filters that stand in a query, and the words that are left. */
export function filtersOf(query: string): {
  readonly words: string
  readonly filters: ReadonlyMap<FilterField, string>
} {
  const filters = new Map<FilterField, string>()
  const words = query.replace(
    /(?<![^\s(])(to|project):(?:"([^"]*)"|([^\s()"]+))/gi,
    (_, field: string, quoted?: string, bare?: string) => {
      filters.set(field.toLowerCase() as FilterField, (quoted ?? bare ?? '').trim())
      return ' '
    },
  )
  return { words, filters }
}
