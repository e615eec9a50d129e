/** The limits on text from outside, to the byte. */
import { describe, expect, test } from 'vitest'
import { limits } from './limits.ts'
import { bodyFault, clientIdFault, textFault } from './text.ts'

describe('A body', () => {
  test.each([
    ['one byte a character', 'x'],
    ['two bytes', 'ä'],
    ['three bytes', '語'],
    ['four bytes', '🦀'],
  ])('of %s may have exactly 1 MiB', (_what, character) => {
    const size = Buffer.byteLength(character)
    const whole = character.repeat(Math.floor(limits.bodyBytes / size)) + 'x'.repeat(limits.bodyBytes % size)
    expect(Buffer.byteLength(whole)).toBe(1_048_576)
    expect(bodyFault(whole)).toBeUndefined()
    expect(bodyFault(`${whole}x`)).toBe('must have at most 1048576 bytes, this one has 1048577')
  })

  test('must not be empty, but may be blank', () => {
    expect(bodyFault('')).toBe('must not be empty')
    expect(bodyFault(' ')).toBeUndefined()
  })

  test.each(['a\0b', '\0'])('must not hold U+0000: %j', (text) => {
    expect(bodyFault(text)).toContain('U+0000')
  })

  test.each(['\ud800', '\udc00', 'a\ud83e', '\udd80a', '\udd80\ud83e'])('must not hold half of a pair: %j', (text) => {
    expect(bodyFault(text)).toContain('surrogate')
  })

  test.each(['🦀', '\ufeff', '\u0001\u001b[31m', '\r\n\t', '\uffff', 'e\u0301'])('may be %j', (text) => {
    expect(bodyFault(text)).toBeUndefined()
    expect(textFault(text)).toBeUndefined()
  })
})

describe('An id given by a client', () => {
  test.each(['a', '1', '…', '🦀', 'a b', 'what: {"x"}/y?', 'x'.repeat(128), '🦀'.repeat(128)])('may be %j', (id) => {
    expect(clientIdFault(id)).toBeUndefined()
  })

  test.each([
    '',
    ' ',
    ' a',
    'a ',
    'a\nb',
    'a\tb',
    'a\0',
    '\u00a0a',
    'a\u200b',
    'a\u2028b',
    'a\u200bb',
    '\ud83e',
    'a\ud83eb',
    '\ufeffa',
    '\ue000',
  ])('may not be %j', (id) => {
    expect(clientIdFault(id)).toBe('must be 1 to 128 visible characters')
  })

  test.each(['x'.repeat(129), '🦀'.repeat(129), 'x'.repeat(100_000)])('may not be longer than 128 characters', (id) => {
    expect(clientIdFault(id)).toBe('must have at most 128 characters')
  })
})
