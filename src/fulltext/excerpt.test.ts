/** Snippets: what is shown of a message that was found. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { excerpt, marked } from './excerpt.ts'
import { parseQuery, phrasesOf } from './query.ts'

const snippet = (text: string, query: string) => {
  const parsed = parseQuery(query)
  return excerpt(text, parsed === undefined ? [] : phrasesOf(parsed))
}

const long = (before: number, word: string, after: number) =>
  `${'lorem ipsum '.repeat(before)}${word}${' dolor sit'.repeat(after)}`

test.each([
  ['The build is green again.', 'build', 'The **build** is green again.'],
  ['Build, BUILD and builds', 'build', '**Build**, **BUILD** and builds'],
  ['Build and builds', 'buil*', '**Build** and **builds**'],
  ['see src/api/users.ts, not src/api', 'src/api/users.ts', 'see **src/api/users.ts**, not src/api'],
  ['a café, a cafe', 'CAFE', 'a **café**, a **cafe**'],
  ['全文検索機能', '検索', '全文**検索**機能'],
  ['shipped 🚀!', '🚀', 'shipped **🚀**!'],
  ['one two three', 'two OR "one two"', '**one two** three'],
  ['keep this, drop that', 'keep NOT that', '**keep** this, drop that'],
  ['nothing to see', 'subject', 'nothing to see'],
  ['two\n\n lines\tand \u0007 a bell', 'lines', 'two **lines** and a bell'],
])('%j for %j is %j', (text, query, expected) => {
  expect(marked(snippet(text, query))).toBe(expected)
})

test('of a long text the piece around the first match is shown, cut between words', () => {
  const { text, matches } = snippet(long(1000, 'needle', 1000), 'needle')
  expect(text).toMatch(/^…(ipsum|lorem) .* needle dolor .* (dolor|sit)…$/)
  expect(text.length).toBeLessThanOrEqual(162)
  expect(matches.map(([from, to]) => text.slice(from, to))).toEqual(['needle'])
})

test('a word without end is cut, too', () => {
  const { text } = snippet('x'.repeat(50_000), 'y')
  expect(text).toBe(`${'x'.repeat(160)}…`)
})

test('marks are whatever the caller makes of them', () => {
  const upper = marked(
    snippet('a <b> c', 'b'),
    (match) => `<mark>${match}</mark>`,
    (rest) => rest.replaceAll('<', '&lt;'),
  )
  expect(upper).toBe('a &lt;<mark>b</mark>> c')
})

test('a snippet is one short line of whole characters, whatever the text', () => {
  const unit = fc.constantFrom('a', 'B', ' ', '\n', '\u202e', '🚀', '検', 'é', '-', '\0', '👩‍💻', '\ud800')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 600 }), fc.constantFrom('a', '検', '🚀', 'b a'), (body, query) => {
      const { text, matches } = snippet(body.toWellFormed(), query)
      expect(text.length).toBeLessThanOrEqual(162)
      expect(text).not.toMatch(/[\p{Cc}\u202e]/u)
      expect(text.isWellFormed()).toBe(true)
      let end = 0
      for (const [from, to] of matches) {
        expect(from).toBeGreaterThanOrEqual(end)
        end = to
      }
    }),
  )
})
