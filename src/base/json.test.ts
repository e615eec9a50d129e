/** JSON from outside: what is refused before it is parsed, and that nothing else is. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { readJson, readJsonText } from './json.ts'

const read = (text: string): unknown => readJson(Buffer.from(text))
const heavy = (says: string) => expect.objectContaining({ code: 'INVALID_ARGUMENT', message: `The request ${says}.` })

const fails = (text: string): unknown => {
  try {
    read(text)
  } catch (error) {
    return error
  }
  return undefined
}

/** Spaces that make it so large that its bytes are looked through. */
const padding = ' '.repeat(5000)

for (const [size, around] of [
  ['a small', ''],
  ['a large', padding],
] as const) {
  verifies('all.size.nesting', `${size} text may be 100 levels deep, and no deeper`, () => {
    const deep = (levels: number) => `${around}${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`
    expect(read(deep(100))).toBeTypeOf('object')
    expect(fails(deep(102))).toEqual(heavy('is nested deeper than 100 levels'))
    expect(fails(`${around}${'['.repeat(101)}${']'.repeat(101)}`)).toEqual(heavy('is nested deeper than 100 levels'))
  })

  verifies('all.size.batch', `${size} batch may have 100 messages, and no more`, () => {
    const batch = (length: number) => `${around}${JSON.stringify(Array.from({ length }, () => ({ a: [1, 2, 3] })))}`
    expect(read(batch(100))).toHaveLength(100)
    expect(fails(batch(101))).toEqual(heavy('is a batch that must not exceed 100 messages'))
    expect(read(`${around}{"list":${batch(101)}}`)).toBeTypeOf('object')
  })

  test(`brackets and colons in the strings of ${size} text count for nothing`, () => {
    const text = `${'[{:,'.repeat(300)}\\"\n`
    expect(read(around + JSON.stringify({ text, [text]: text }))).toEqual({ text, [text]: text })
  })
}

verifies('all.size.keys', 'an object may have 1,000 keys, and no more', () => {
  const object = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, key) => [`k${key}`, { a: 1 }]))
  for (const around of [(value: object) => value, (value: object) => ({ x: [value, value], y: value })]) {
    expect(read(JSON.stringify(around(object(1000))))).toEqual(around(object(1000)))
    expect(fails(JSON.stringify(around(object(1001))))).toEqual(heavy('has an object with more than 1000 keys'))
  }
  expect(fails(`{${'"":0,'.repeat(1000)}"":0}`)).toEqual(heavy('has an object with more than 1000 keys'))
})

verifies('all.size.parts', 'a text may have 100,000 objects and lists, and no more', () => {
  for (const part of ['{}', '[]']) {
    const list = (count: number) => `{"a":[${Array(count).fill(part).join(',')}]}`
    expect(read(list(99_998))).toHaveProperty('a')
    expect(fails(list(99_999))).toEqual(heavy('has more than 100000 objects and lists'))
    expect(() => readJsonText(list(600_000))).toThrow('has more than 100000 objects and lists')
  }
})

verifies(
  'all.http.utf-eight',
  'bytes that are no UTF-8 are no JSON; U+FFFD itself is a character like any other',
  () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0xa6], [0xc0, 0xaf]])
      for (const around of ['', padding])
        expect(() =>
          readJson(Buffer.concat([Buffer.from(`${around}"`), Buffer.from(bytes), Buffer.from('"')])),
        ).toThrow(SyntaxError)
    expect(read('"\ufffd 🦜"')).toBe('\ufffd 🦜')
    expect(read('\ufeff{"a":1}')).toEqual({ a: 1 })
  },
)

test('whatever JSON.parse reads is read, however its strings are escaped', () => {
  const strings = fc.string({
    unit: fc.constantFrom('"', '\\', '[', '{', '}', ']', ':', ',', 'x', '\n', 'é', '🦜'),
    maxLength: 300,
  })
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 5 }, strings, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 5 }),
    object: fc.dictionary(strings, tie('any'), { maxKeys: 5 }),
  })).any
  fc.assert(
    fc.property(value, (given) => {
      const text = JSON.stringify(given)
      expect(read(padding + text)).toEqual(JSON.parse(text))
      // One more level around 100 would be seen, whatever the strings hold.
      expect(fails(`${padding}{"a":${text},"b":${'['.repeat(100)}${']'.repeat(100)}}`)).toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    }),
  )
})
