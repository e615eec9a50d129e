/** Names that are taken for each other, and names that are not. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { lookOf } from './confusables.ts'

verifies('all.names.lookalikes', 'Names of one look have it whatever their script, width or case', () => {
  for (const [name, other] of [
    ['coco', 'сосо'],
    ['ABE', 'ΑΒΕ'],
    ['ABE', 'abe'],
    ['paypal', 'раураӏ'],
    ['ΟΚ', 'ОК'],
    ['GreenCastle', 'GreenCastIe'],
    ['GreenCastle', 'GreenCast1e'],
    ['worker-10', 'worker-lO'],
    ['modem', 'modern'],
    ['fox-2', 'fox\u20102'],
    ['fox', 'ｆｏｘ'],
    ['é', 'e\u0301'],
    ['fox', 'fo\u200bx'],
  ] as const)
    expect(lookOf(other), `${name} and ${other}`).toBe(lookOf(name))
})

test('names that a reader can tell apart have looks of their own', () => {
  const names = [
    'fox',
    'Fox 2',
    'fox-2',
    'fox_2',
    'fóx',
    'лиса',
    'вов',
    'bob',
    '狐',
    '孤',
    '🦊',
    'αλεπού',
    'GreenCastle',
    'GreenCastles',
  ]
  expect(new Set(names.map(lookOf)).size).toBe(names.length)
})
