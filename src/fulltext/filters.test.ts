/** Filters in a query: which there are, and that anything else stays text. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { filtersOf } from './filters.ts'

const day = Date.parse('2026-11-01')

verifies('mail.search.filters', 'are taken out of the words, turned around by a minus or NOT', () => {
  for (const [query, words, expected] of [
    ['deploy is:unread', 'deploy', [{ field: 'is', value: 'unread', not: false }]],
    ['-is:SEALED deploy', 'deploy', [{ field: 'is', value: 'sealed', not: true }]],
    ['deploy AND NOT has:attachments', 'deploy', [{ field: 'has', value: 'attachment', not: true }]],
    ['importance:high AND plan', 'plan', [{ field: 'importance', value: 'high', not: false }]],
    [
      'after:2026-11-01 type:question',
      '',
      [
        { field: 'after', value: day },
        { field: 'type', value: 'question' },
      ],
    ],
    ['to:"Blue Lake" (a OR b)', '(a OR b)', [{ field: 'to', value: 'Blue Lake' }]],
    ['"is:unread" subject:"to:x" from:Ann', '"is:unread" subject:"to:x" from:Ann', []],
    ['http://x.org std::vector 12:30', 'http://x.org std::vector 12:30', []],
  ] as const) {
    const read = filtersOf(query)
    expect([query, read.words]).toEqual([query, words])
    expect(read.filters).toMatchObject(expected)
  }
})

verifies('mail.search.unknown', 'others are left among the words, with a note that names them', () => {
  for (const [query, note] of [
    ['priority:1', 'priority: is no operator'],
    ['is:late', 'is:late is searched as text; there is is:unread, is:unacked, is:sealed.'],
    ['before:tomorrow', 'before:tomorrow is searched as text; there is before: with a date such as 2026-01-31.'],
    ['project:shop', 'project: is no operator'],
  ] as const) {
    const { words, filters, notes } = filtersOf(query)
    expect([words, filters, notes.join()]).toEqual([query, [], expect.stringContaining(note)])
  }
  expect(filtersOf('project:shop', { projects: true }).filters).toMatchObject([{ field: 'project', value: 'shop' }])
})

test('a filter beside OR holds for all of it, and says so', () => {
  expect(filtersOf('a OR is:unread b').notes).toEqual([expect.stringContaining('whole query')])
})

test('long queries are read at once', () => {
  for (const piece of ['NOT ', 'is:', '-', 'a:"', 'is:unread ']) filtersOf(piece.repeat(10_000 / piece.length))
})
