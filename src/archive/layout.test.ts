/** File names made of any name: safe on every file system, and never two of them alike. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { digestPath, fileName, keyFile, messagePath } from './layout.ts'

const name = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 }),
    fc.constantFrom('.', '..', '.git', 'con', 'NUL.txt', 'a/b', 'a.', 'a%2Fb', 'a.2'),
  )
  .filter((text) => !text.includes('\0') && text.isWellFormed())

verifies('mail.archive.names', 'Any name becomes a plain file name, and two names never the same', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const file = fileName(one)
      expect(file).toMatch(/^[A-Za-z0-9_%-](?:[A-Za-z0-9._%-]*[A-Za-z0-9_%-])?$/)
      expect(file.length).toBeLessThanOrEqual(200)
      expect(file).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i)
      if (one !== other) expect(fileName(other)).not.toBe(file)
      if (one !== other) expect(digestPath(keyFile(one, false), 1)).not.toBe(digestPath(keyFile(other, false), 2))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['GreenCastle', 'GreenCastle'],
  ['Ada Lovelace', 'Ada%20Lovelace'],
  ['../x', '%2E.%2Fx'],
  ['.git', '%2Egit'],
  ['é', '%C3%A9'],
])('The file of %s is %s', (from, to) => expect(fileName(from)).toBe(to))

verifies('mail.archive.names', 'A key that looks like an id of a message or topic has another file than theirs', () => {
  for (const id of ['12', '01h5k7m9p1r3t5v7']) expect(keyFile(id, false)).not.toBe(fileName(id))
  expect(keyFile('12', false)).toBe('%312')
  expect(keyFile('TKT-12', false)).toBe('TKT-12')
  expect(keyFile('TKT-12', true)).toBe('%54%4B%54-12')
})

test('A message is filed by its month in UTC', () => {
  expect(messagePath({ id: 12, createdAt: Date.UTC(2026, 0, 31, 23, 59) })).toBe('messages/2026/01/12.md')
})
