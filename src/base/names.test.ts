/** Names of agents, and the slugs of projects. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codePoints } from '../../test/support/code-points.ts'
import { verifies } from '../../test/support/verifies.ts'
import { agentNamePattern, folderKey, foldersAround, isReserved, nameKey, slugOf, tidyKey } from './names.ts'

describe('An agent name', () => {
  test.each(['a', 'Z', '7', 'alice', 'GreenCastle', 'a_b-c', '0-', 'a'.repeat(100)])('may be %s', (name) => {
    expect(name).toMatch(agentNamePattern)
  })

  test.each(['', '-a', '_a', 'a b', 'a.b', 'a/b', 'ä', 'а', 'a\n', '\na', 'a\0', 'a'.repeat(101)])(
    'may not be %j',
    (name) => {
      expect(name).not.toMatch(agentNamePattern)
    },
  )

  test('is the same in any case', () => {
    expect(nameKey('GreenCastle')).toBe(nameKey('greenCASTLE'))
    expect(nameKey('a_b')).not.toBe(nameKey('a-b'))
  })
})

describe('A slug', () => {
  test('is the last part of the key and a hash of all of it', () => {
    expect(slugOf('/srv/code/Backend')).toMatch(/^backend-[0-9a-f]{6}$/)
    expect(slugOf('/srv/code/Backend')).toBe(slugOf('/srv/code/Backend'))
    expect(slugOf('/srv/other/Backend')).not.toBe(slugOf('/srv/code/Backend'))
    expect(slugOf('/srv/code/backend')).not.toBe(slugOf('/srv/code/Backend'))
    expect(slugOf('C:\\code\\My Project\\')).toMatch(/^my-project-[0-9a-f]{6}$/)
    expect(slugOf('/srv/code/.../')).toMatch(/^code-[0-9a-f]{6}$/)
  })

  test('is "commons" for the common project, and for no other', () => {
    expect(slugOf('commons')).toBe('commons')
    for (const key of ['Commons', '/commons', 'commons/', ' commons']) expect(slugOf(key)).not.toBe('commons')
  })

  test.each(['', '/', '???', 'ярмарка', '..'])('of %j has a word all the same', (key) => {
    expect(slugOf(key)).toMatch(/^project-[0-9a-f]{6}$/)
  })

  test('is readable, short and safe in a path, whatever the key', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints, maxLength: 200 }), (key) => {
        if (key !== 'commons') expect(slugOf(key)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,39})-[0-9a-f]{6}$/)
      }),
    )
    expect(slugOf('x'.repeat(1000))).toHaveLength(40 + 1 + 6)
  })
})

describe('A key', () => {
  test('is the same with a slash at its end, or spaces around it', () => {
    for (const key of ['/srv/code', '/srv/code/', '/srv/code///', ' /srv/code/ '])
      expect(tidyKey(key)).toBe('/srv/code')
    for (const key of ['C:\\code', 'C:\\code\\', 'C:\\code/']) expect(tidyKey(key)).toBe('C:\\code')
    expect(tidyKey('\\\\host\\share\\')).toBe('\\\\host\\share')
    for (const key of ['my project', '/srv/code\\', 'backend-3f9a1c']) expect(tidyKey(key)).toBe(key)
  })

  test('is never empty by that', () => {
    for (const key of ['/', '//', ' ///']) expect(tidyKey(key)).toBe('/')
  })

  verifies('mail.project.spellings', 'has one spelling, and never leaves its root', () => {
    for (const key of ['/a/b', '/a//b', '/a/./b', '/a/b/../b', '/a/b/.', '/../a/b', '/a/c/../../a/b/'])
      expect(tidyKey(key)).toBe('/a/b')
    for (const key of ['C:\\x\\y', 'c:/x/y', 'c:\\x//y\\', 'C:/x/./z/../y', 'C:\\..\\x\\y'])
      expect(folderKey(key)).toBe('c:/x/y')
    for (const key of ['\\\\host\\share\\app', '\\\\host/share/app/', '\\\\host\\share\\..\\..\\app'])
      expect(folderKey(key)).toBe('//host/share/app')
    // Other letters, names with dots and backslashes of POSIX, and a share are other folders.
    for (const key of ['/A/b', '/a/b ./c', '/a/...', '/a\\b', '/host/share/app', '/c:/x/y'])
      expect(folderKey(key)).toBe(key)
    expect(slugOf('C:\\x')).toBe(slugOf('c:/x'))
  })

  test('lies in the folders around it', () => {
    expect(foldersAround('/a//b/c/')).toEqual(['/a/b', '/a'])
    expect(foldersAround('C:\\a\\b\\c')).toEqual(['c:/a/b', 'c:/a'])
    expect(foldersAround('\\\\host\\share\\a\\b')).toEqual(['//host/share/a', '//host/share'])
    for (const path of ['/', '/a', 'C:\\a', '\\\\host\\share']) expect(foldersAround(path)).toEqual([])
  })
})

describe('Two names', () => {
  const alike: [what: string, a: string, b: string][] = [
    ['case', 'Ünïcödé', 'üNÏCÖDÉ'],
    ['full width', 'alice', 'ａｌｉｃｅ'],
    ['letters of mathematics', 'alice', '𝐚𝓵𝔦𝖼𝚎'],
    ['ligatures', 'office', 'oﬃce'],
    ['composed and decomposed accents', 'caf\u00e9', 'cafe\u0301'],
    ['a zero-width space', 'alice', 'al\u200bice'],
    ['a joiner, a soft hyphen, a mark of direction', 'alice', 'a\u200dl\u00adi\u200ece'],
    ['a variation selector and a tag', 'alice', 'alice\ufe0f\u{e0061}'],
    ['a Hangul filler', 'alice', 'alice\u3164'],
    ['a no-break space', 'grey owl', 'grey\u00a0owl'],
  ]

  verifies('all.names.alike', 'that differ in nothing that can be seen are one', () => {
    for (const [what, a, b] of alike) expect(nameKey(b), what).toBe(nameKey(a))
  })

  test('that look different are two', () => {
    for (const [a, b] of [
      ['alice', 'alicé'],
      ['a_b', 'a-b'],
      ['ab', 'a b'],
      ['Ω', 'O'],
      ['漢', '汉'],
    ] as const)
      expect(nameKey(a)).not.toBe(nameKey(b))
  })

  test('have a key that is its own key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (name) => {
        const key = nameKey(name)
        expect(nameKey(key)).toBe(key)
      }),
    )
  })
})

verifies('all.names.reserved', 'A reserved name is reserved however it is written', () => {
  for (const name of [
    'HumanOverseer',
    'humanoverseer',
    ' HUMANOVERSEER ',
    'Human Overseer',
    'human-overseer',
    'Human_Overseer',
    'H-u-m-a-n—Overseer',
    'Ｈｕｍａｎ Ｏｖｅｒｓｅｅｒ',
    'HumanOver\u200bseer',
    'Hümánövêrsèèr',
    'HumanOverſeer',
    // SQUARE OV is one character for two letters.
    'Human㍵erseer',
    'H\u0332u\u0332manOverseer',
  ])
    expect(isReserved(name), JSON.stringify(name)).toBe(true)
  for (const name of ['Human', 'HumanOverseer2', '', 'Overseer', 'humanoverseers', 'Human.Overseer'])
    expect(isReserved(name), name).toBe(false)
})
