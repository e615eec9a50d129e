/** The nearest of some words to a mistyped one. */
import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const names = ['BlueLake', 'GreenCastle', 'BlueLane', 'RedStone', 'Bo']

test('a few letters off are found, the nearest first', () => {
  expect(nearest('BlueLakes', names)).toEqual(['BlueLake', 'BlueLane'])
  expect(nearest('bleulake', names)).toEqual(['BlueLake', 'BlueLane'])
  expect(nearest('GreenCaslte', names)).toEqual(['GreenCastle'])
  expect(nearest('RedStone', names, 1)).toEqual(['RedStone'])
})

test('so is the beginning of a name, and nothing that only has letters in common', () => {
  expect(nearest('Blue', names)).toEqual(['BlueLake', 'BlueLane'])
  expect(nearest('Boardwalk', names)).toEqual([])
  expect(nearest('WhiteOwl', names)).toEqual([])
  expect(nearest('', names)).toEqual([])
  expect(nearest('x'.repeat(41), ['x'.repeat(41)])).toEqual([])
})

test('slips are counted as an editor would count them', () => {
  const near = (a: string, b: string) => nearest(a, [b]).length === 1
  // Twelve letters: up to four slips.
  expect(near('abcdefghijkl', 'abXdeXghXjkX')).toBe(true)
  expect(near('abcdefghijkl', 'aXXdeXghXjkX')).toBe(false)
  expect(near('abcdefghijkl', 'badcfehgijkl')).toBe(true)
  expect(near('abcdefghijkl', 'badcfehgjilk')).toBe(false)
  expect(near('abcdefghijkl', 'abcdefgh__ijkl')).toBe(true)
  expect(near('abcdefghijkl', 'cdefghijkl__')).toBe(true)
  expect(near('abc', 'axc')).toBe(true)
  expect(near('abc', 'xxc')).toBe(false)
})
