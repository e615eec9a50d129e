/** The tables of the settings, held together. */
import { describe, expect, test } from 'vitest'
import { settings, subjects } from './all.ts'

test('A setting belongs to one subject', () => {
  const names = Object.values(subjects).flatMap((table) => Object.keys(table))
  expect(names.length).toBeGreaterThan(40)
  expect(names).toEqual(Object.keys(settings))
})

/** Why a reader who sees only this row cannot understand its sentence; undefined if he can. */
function obscurity(name: string, says: string): string | undefined {
  if (!/^[A-Z].*\.$/s.test(says)) return 'does not begin with a capital and end with a full stop'
  if (says.split(/\s+/).length < 5) return 'has fewer than five words'
  const start = /^(How|That|Such|It|This|They)\b/.exec(says)?.[0]
  if (start !== undefined) return `begins with "${start}"`
  const pointer = /\b(such an?|such \w+s|that endpoint|below|above)\b/i.exec(says.replace('such as', ''))?.[0]
  if (pointer !== undefined) return `points elsewhere with "${pointer}"`
  const [, unit = ''] = /_(SECONDS|DAYS|TOKENS)$/.exec(name) ?? []
  return says.toLowerCase().includes(unit.toLowerCase())
    ? undefined
    : `does not say that it counts ${unit.toLowerCase()}`
}

describe('The sentence of a setting stands alone:', () => {
  test.each(Object.entries(settings))('%s', (name, { says }) => {
    expect(obscurity(name, says)).toBeUndefined()
  })

  test.each([
    ['X', 'the port that the server listens on.'],
    ['X', 'Port that the server listens on'],
    ['X', 'The model to ask.'],
    ['X', 'How freely the language model may write.'],
    ['X', 'It does nothing without the other one.'],
    ['X', 'Whether such a reservation is made exclusively.'],
    ['X', 'The agent that holds such reservations there.'],
    ['X', 'The key that is sent to that endpoint.'],
    ['X', 'Whether the quota below is enforced always.'],
    ['X_SECONDS', 'The time between two reports of retention.'],
  ])('of %s, "%s" would not', (name, says) => {
    expect(obscurity(name, says)).toBeDefined()
  })
})
