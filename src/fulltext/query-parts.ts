/** A query as people see it: its parts one by one, each with the query that is left without it. */

export interface QueryToken {
  readonly text: string
  /** The query without it. */
  readonly without: string
}

/** As fulltext/query.ts cuts a query, with the filters in it. */
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
