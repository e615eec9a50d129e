/** Names of two words: enough of them, all well formed, none like another. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { systemClock } from './clock.ts'
import { createIds } from './ids.ts'
import { adjectives, isMemorable, lettersAndDigits, memorableName, nouns } from './memorable.ts'
import { isReserved, nameKey } from './names.ts'

const all = adjectives.flatMap((adjective) => nouns.map((noun) => `${adjective}${noun}`))

verifies('mail.name.combinations', 'more than 4,000 names can be generated, all well formed and different', () => {
  expect(Math.min(adjectives.length, nouns.length)).toBeGreaterThanOrEqual(75)
  expect(new Set(all.map(nameKey)).size).toBe(adjectives.length * nouns.length)
  expect(all.length).toBeGreaterThanOrEqual(4000)
  expect(all.filter((name) => !isMemorable(name) || isReserved(name))).toEqual([])
  expect(new Set([...adjectives, ...nouns]).size).toBe(adjectives.length + nouns.length)
})

test('Every word of both lists is reached, and none beyond them', () => {
  const last = memorableName((count) => count - 1)
  expect(last).toBe(`${adjectives.at(-1)}${nouns.at(-1)}`)
  expect(memorableName(() => 0)).toBe(`${adjectives[0]}${nouns[0]}`)
  const { below } = createIds(systemClock)
  const made = new Set(Array.from({ length: 2000 }, () => memorableName(below)))
  expect(made.size).toBeGreaterThan(1500)
  expect([...made].every((name) => all.includes(name))).toBe(true)
})

test('After some attempts a number makes room, more of it with each', () => {
  const most = (attempt: number) => memorableName((count) => count - 1, attempt)
  expect(most(3)).toMatch(/^[A-Za-z]+$/)
  expect(most(4)).toMatch(/[a-z]101$/)
  expect(most(6)).toMatch(/[a-z]10001$/)
  expect(most(400)).toMatch(/[a-z]1000000001$/)
})

verifies('mail.name.well-formed', 'two capitalised words are well formed, whichever words they are', () => {
  for (const name of ['GreenCastle', 'BlueLake', 'XyZw', 'TestBot']) expect(isMemorable(name), name).toBe(true)
  for (const name of [
    'Green',
    'greenCastle',
    'greencastle',
    'GREENCastle',
    'GreenCastleTower',
    'Green Castle',
    'Green_Lake',
  ])
    expect(isMemorable(name), name).toBe(false)
  for (const name of ['', 'GreenCastle2', 'GreenC', 'ÜberLake', `A${'a'.repeat(98)}Bb`])
    expect(isMemorable(name), name).toBe(false)
})

test('What somebody would like to be called becomes one word', () => {
  expect(lettersAndDigits('GreenCastle')).toBe('GreenCastle')
  expect(lettersAndDigits(' Green  Castle! ')).toBe('GreenCastle')
  expect(lettersAndDigits('blue-lake_7')).toBe('bluelake7')
  expect(lettersAndDigits('Größe ﬁn')).toBe('')
  expect(lettersAndDigits('Émile ﬁn')).toBe('Emilefin')
  expect(lettersAndDigits('Ｈｕｍａｎ')).toBe('Human')
  expect(lettersAndDigits('Нuman')).toBe('')
  expect(lettersAndDigits('***')).toBe('')
})
