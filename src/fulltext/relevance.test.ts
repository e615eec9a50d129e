/** Counting what is searched for: the fast way must agree with the words as they are indexed. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseQuery, phrasesOf } from './query.ts'
import { tally } from './relevance.ts'
import { wordsOf } from './words.ts'

const phrasesIn = (query: string) => {
  const parsed = parseQuery(query)
  return parsed === undefined ? [] : phrasesOf(parsed)
}

test('Phrases are counted by whole words, in a row', () => {
  const text = 'Deploy: deploy-service, redeploy; DEPLOY service/deployed a.a.a'
  const count = (query: string) => tally(text, phrasesIn(query)).counts
  expect(count('deploy')).toEqual([3])
  expect(count('deploy*')).toEqual([4])
  expect(count('"deploy service"')).toEqual([2])
  expect(count('"a a"')).toEqual([2])
  expect(count('service/deploy*')).toEqual([1])
  expect(count('deploy OR service')).toEqual([3, 2])
  expect(tally(text, []).length).toBe(10)
  expect(tally(`${text} é`, phrasesIn('deploy*'))).toEqual({ counts: [4], length: 11 })
})

test('Both ways of counting agree, whatever the text', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'ab',
    'A',
    'é',
    ' ',
    '-',
    '.',
    '\n',
    '0',
    '検',
    'b'.repeat(127),
    'a'.repeat(128),
  )
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  const word = fc.array(fc.constantFrom('a', 'b', 'ab', '0', '-', '*'), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(text, word, fc.constantFrom('', '"'), (text, word, quote) => {
      const phrases = phrasesIn(`${quote}${word.join('')}${quote} ${'a'.repeat(127)} ${'a'.repeat(200)}`)
      const words = wordsOf(text)
      // A character that is not ASCII and no word takes the slow way.
      for (const [n, phrase] of phrases.entries())
        expect(tally(text, [phrase]).counts).toEqual([tally(`${text} \u2014`, phrases).counts[n]])
      expect(tally(text, phrases).length).toBe(words.length)
    }),
    { numRuns: 1000 },
  )
})
