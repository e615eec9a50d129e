/** The tables of the settings, held together. */
import { expect, test } from 'vitest'
import { settings, subjects } from './all.ts'

test('A setting belongs to one subject', () => {
  const names = Object.values(subjects).flatMap((table) => Object.keys(table))
  expect(names.length).toBeGreaterThan(40)
  expect(names).toEqual(Object.keys(settings))
})
