/** The language of search: what a query means, and that every text means something. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { parseQuery, type Query, readQuery } from './query.ts'

/** `a+b` stands in a row, `&` is both, `|` either, `-` without. */
function show(query: Query | undefined): string {
  if (query === undefined) return 'nothing'
  if (query.kind === 'phrase')
    return `${query.field === undefined ? '' : `${query.field}:`}${query.words.join('+')}${query.prefix ? '*' : ''}`
  if (query.kind === 'or') return `(${query.any.map(show).join(' | ')})`
  return `(${query.all.map(show).join(' & ')}${query.but.map((one) => ` - ${show(one)}`).join('')})`
}

test.each([
  // The forms that users of search are told of.
  ['plan users', '(plan & users)'],
  ['"build plan"', 'build+plan'],
  ['mig*', 'mig*'],
  ['plan AND users NOT legacy', '(plan & users - legacy)'],
  ['login OR logout', '(login | logout)'],
  ['(login OR logout) AND security', '((login | logout) & security)'],
  ['subject:login body:"api key"', '(subject:login & body:api+key)'],
  ['from:GreenCastle thread:TKT-123', '(from:greencastle & thread:tkt+123)'],
  ['Subject:mig*', 'subject:mig*'],

  // NOT before AND before OR, as in FTS5.
  ['a OR b c', '(a | (b & c))'],
  ['a AND b OR c AND d', '((a & b) | (c & d))'],
  ['a NOT b OR c', '((a - b) | c)'],
  ['NOT b a', '(a - b)'],
  ['a NOT (b OR c)', '(a - (b | c))'],
  ['a NOT (b NOT c)', '(a - (b - c))'],
  ['NOT NOT a', 'a'],
  ['a NOT NOT b', '(a & b)'],
  ['NOT (NOT a NOT b)', '(a | b)'],
  ['a (b OR NOT c)', '(a - (c - b))'],

  // A query that would fit nearly everything finds nothing, or the part that has a name.
  ['NOT a', 'nothing'],
  ['NOT a NOT b', 'nothing'],
  ['NOT (a b)', 'nothing'],
  ['a OR NOT b', 'a'],
  ['a OR NOT b OR c', '(a | c)'],

  // Operators in lower case, or without operands, are words.
  ['this and that or not', '(this & and & that & or & not)'],
  ['AND', 'and'],
  ['OR a', '(or & a)'],
  ['a AND', '(a & and)'],
  ['a OR', '(a & or)'],
  ['a NOT', '(a & not)'],
  ['(NOT)', 'not'],
  ['a AND OR b', '(a | b)'],
  ['subject:AND', 'subject:and'],
  ['"a AND b"', 'a+and+b'],

  // Punctuation parts words, and what is written without a space stays together.
  ['auth-service', 'auth+service'],
  ['src/api/users.ts', 'src+api+users+ts'],
  ['user_id', 'user+id'],
  ['v1.2.3', 'v1+2+3'],
  ['foo:bar', 'foo+bar'],
  ['http://x.org/?a=b&c', 'http+x+org+a+b+c'],
  ['+b #12', '(b & 12)'],

  // A minus in front of a term is NOT; elsewhere it parts words.
  ['plan -legacy', '(plan - legacy)'],
  ['-legacy plan', '(plan - legacy)'],
  ['plan -"build plan" -subject:old', '(plan - build+plan - subject:old)'],
  ['plan -(old OR new)', '(plan - (old | new))'],
  ['(-old plan)', '(plan - old)'],
  ['plan NOT -old', '(plan & old)'],
  ['-legacy', 'nothing'],
  ['auth -auth-service', '(auth - auth+service)'],
  ['npm --force - now', '(npm & force & now)'],
  ['plan -', 'plan'],
  ['plan -)', 'plan'],
  ['foo*bar', 'foo+bar'],
  ['a*', 'a'],
  ['ab* cd* ef* gh*', '(ab* & cd* & ef* & gh)'],
  ['"ab cd*"', 'ab+cd'],
  ['*', 'nothing'],
  ['subject:', 'subject'],
  ['subject: x', '(subject & x)'],
  ['subject:(a OR b)', '(subject & (a | b))'],
  ['xsubject:y', 'xsubject+y'],
  ['parse(query)', '(parse & query)'],

  // A quote or parenthesis without a partner is ignored.
  ['"a b', '(a & b)'],
  ['a "b c" "d', '(a & b+c & d)'],
  ['subject:"a', '(subject & a)'],
  ['((a) b', '(a & b)'],
  ['a) b (', '(a & b)'],
  [')(', 'nothing'],
  ['a () b', '(a & b)'],
  ['a NOT ()', 'a'],
  ['a OR --', 'a'],
  ['""', 'nothing'],

  // Other scripts.
  ['Café ÀÉÎ', '(cafe & aei)'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['全文検索', '全+文+検+索'],
  ['done 🚀', '(done & 🚀)'],
  ['‘quoted’ — dash', '(quoted & dash)'],

  ['', 'nothing'],
  [' \t\n', 'nothing'],
  ['\0\x01\x7f\ufffe', 'nothing'],
  ['\ud800 a', 'a'],
])('%j means %s', (text, meaning) => {
  expect(show(parseQuery(text))).toBe(meaning)
})

verifies(['mail.search.minus', 'mail.search.notes'], 'A form that can find nothing is told', () => {
  for (const text of ['', '***', '""', ')('])
    expect([text, readQuery(text).note]).toEqual([text, expect.stringMatching(/no word/)])
  for (const text of ['NOT a', '-a', 'NOT (a b)', '-a -b'])
    expect([text, readQuery(text).note]).toEqual([text, expect.stringMatching(/takes away/)])
  for (const [text, word] of [
    ['a AND', 'AND'],
    ['OR a', 'OR'],
    ['a NOT', 'NOT'],
    ['AND', 'AND'],
  ] as const)
    expect([text, readQuery(text).note]).toEqual([text, expect.stringMatching(new RegExp(`^${word} has nothing`))])
  for (const text of ['a', 'a -b', 'a OR NOT b', 'a and b', '"a AND"', 'subject:AND', 'a AND b'])
    expect([text, readQuery(text).note]).toEqual([text, undefined])
})

test('However long a query is, 32 words of it are looked for', () => {
  const paste = Array.from({ length: 2000 }, (_, n) => `word${n}`)
  expect(parseQuery(paste.join(' '))).toMatchObject({ kind: 'and', all: { length: 32 } })
  expect(parseQuery(`"${paste.join(' ')}"`)).toMatchObject({ kind: 'phrase', words: paste.slice(0, 32) })
  expect(parseQuery(`${paste.slice(0, 30).join(' ')} "a b c d"`)).toMatchObject({ all: { 30: { words: ['a', 'b'] } } })
  expect(parseQuery(`${paste.slice(0, 31).join(' ')} ab-cd*`)).toMatchObject({
    all: { 31: { words: ['ab'], prefix: false } },
  })
})

test('Operators do not count among the words, unless they are some', () => {
  const words = Array.from({ length: 40 }, (_, n) => `word${n}`)
  expect(parseQuery(words.slice(0, 25).join(' OR '))).toMatchObject({ kind: 'or', any: { length: 25 } })
  expect(parseQuery(words.join(' OR '))).toMatchObject({ kind: 'or', any: { length: 32 } })
  expect(parseQuery('AND '.repeat(100))).toMatchObject({ kind: 'and', all: { length: 32 } })
})

test.each([
  '('.repeat(100_000),
  `${'('.repeat(50_000)}a${')'.repeat(50_000)}`,
  'NOT '.repeat(100_000),
  `${'NOT ('.repeat(50_000)}a`,
  '"'.repeat(100_001),
  'a OR '.repeat(50_000),
  'subject:'.repeat(50_000),
])('A query of very many of the same is read at once: %#', (text) => {
  const began = performance.now()
  expect(() => parseQuery(text)).not.toThrow()
  expect(performance.now() - began).toBeLessThan(2000)
})

/** Any code points, halves of pairs too. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 8 })
  .map((codes) => String.fromCodePoint(...codes))

const piece = fc.oneof(
  fc.constantFrom('AND', 'OR', 'NOT', '(', ')', '"', '*', ':', 'subject:', 'from:', ' ', '-', '\0', '🚀', 'ẞ', '検'),
  anyText,
)

test('Every text is a query, and its words are letters and digits in lower case', () => {
  const check = (query: Query | undefined): void => {
    if (query === undefined) return
    if (query.kind === 'or') for (const one of query.any) check(one)
    if (query.kind === 'and') for (const one of [...query.all, ...query.but]) check(one)
    if (query.kind !== 'phrase') return
    expect(query.words.length).toBeGreaterThan(0)
    for (const word of query.words) expect(word).toMatch(/^[\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{RI}]{1,256}$/v)
  }
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => check(parseQuery(pieces.join('')))),
    { numRuns: 2000 },
  )
})
