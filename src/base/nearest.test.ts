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
})
