/** Path patterns: what they match, when two overlap, and that no pattern takes long. */
import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { automatonOf, type Glob, leadingTo, overlaps, parseGlob } from './globs.ts'
import { matcherOf, readPath } from './matching.ts'
import { literally } from './parts.ts'
import { automaton, sharedPath } from './paths.ts'

function glob(text: string, root?: string): Glob {
  const parsed = parseGlob(text, root)
  if ('fault' in parsed) throw new Error(`${text} ${parsed.fault}`)
  return parsed.glob
}

const faultOf = (text: string, root?: string): string | undefined => {
  const parsed = parseGlob(text, root)
  return 'fault' in parsed ? parsed.fault : undefined
}

const matches = (glob: Glob, path: string): boolean =>
  sharedPath(automatonOf(glob), automaton(literally(path))) !== undefined

const commonPath = (one: Glob, other: Glob): string | undefined => sharedPath(automatonOf(one), automatonOf(other))

/** Says it of both orders, and of the path that proves it. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [glob(one), glob(other)]
  expect(overlaps(a, b)).toBe(overlaps(b, a))
  const path = commonPath(a, b)
  expect(path !== undefined).toBe(overlaps(a, b))
  if (path !== undefined) expect([matches(a, path), matches(b, path)]).toEqual([true, true])
  return overlaps(a, b)
}

describe('Two patterns', () => {
  verifies('mail.lease.overlap', 'overlap when some path matches both', () => {
    for (const [one, other] of [
      ['src/**', 'src/api/*.ts'],
      ['src/**', 'src'],
      ['src', 'src/api/users.ts'],
      ['src/', './src//api'],
      ['.', 'anything/at/all.txt'],
      ['**/*.ts', 'src/a/b.ts'],
      ['**/test/**', 'src/test'],
      ['a/**/z', 'a/z'],
      ['*a*b', 'a*b*'],
      ['src/[a-m]*.ts', 'src/[k-z]?.ts'],
      ['src/[!a]*', 'src/b'],
      ['{src,test}/**', 'test/x'],
      ['{src/**,docs/*.md}', 'docs/a.md'],
      ['{a,b}{c,d}', '?d'],
      ['{a/,}**', 'x/y'],
      ['{a,}**', 'x/y'],
      ['*', '.env'],
      ['src/?', 'src/ü'],
      ['src/?', 'src/😀'],
      ['.github', '.github/workflows/ci.yml'],
      ['Makefile', 'Makefile'],
      ['{{name}}/a.ts', '*/a.ts'],
      ['app/(group)/page.tsx', 'app/*/page.tsx'],
      ['app/[[]id]/page.tsx', 'app/?id?/page.tsx'],
      ['pkg.d/', 'pkg.d/x'],
      ['src/*/', 'src/a/b'],
      ['a[]]b', 'a]b'],
      ['a[x-]b', 'a-b'],
    ] as const)
      expect([one, other, overlap(one, other)]).toEqual([one, other, true])
  })

  verifies('mail.lease.brackets', 'overlap when either reading of their brackets does', () => {
    for (const [one, other] of [
      ['app/[id]/page.tsx', 'app/[id]/page.tsx'],
      ['app/[id]/page.tsx', 'app/i/page.tsx'],
      ['app/[id]', 'app/[id]/deep/page.tsx'],
      ['app/[id]', 'app/*/page.tsx'],
      ['app/x[id]y', 'app/x[id]y/page.tsx'],
      ['app/[id]/', 'app/[id]/page.tsx'],
      ['app/[id]/**', 'app/d/page.tsx'],
      ['app/[...slug]', 'app/[...slug]/page.tsx'],
      ['app/[[...slug]]/page.tsx', 'app/[[...slug]]/*'],
      ['app/[lang]/[id]/page.tsx', 'app/[lang]/d/page.tsx'],
      ['src/[a-m]*.ts', 'src/[k-z]?.ts'],
      // No class: only what is written.
      ['src/[ab', 'src/[ab'],
      ['src/[ab*', 'src/[abc'],
      ['src/[]', 'src/[]/a'],
      ['src/[!]', 'src/[!]'],
      ['[z-a]', '[z-a]'],
      ['[a/b]', '[a/b]'],
      ['[[:alpha:]]', '[[:alpha:]]'],
    ] as const)
      expect([one, other, overlap(one, other)]).toEqual([one, other, true])
    for (const [one, other] of [
      ['app/[id]/page.tsx', 'app/x/page.tsx'],
      ['app/[id]/page.tsx', 'app/id/page.tsx'],
      ['app/[id].tsx', 'app/[id].tsx/a'],
      ['app/[id]', 'app/i/page.tsx'],
      ['[z-a]', 'm'],
      ['[a/b]', 'a'],
      ['[[:alpha:]]', 'a'],
      ['src/[ab', 'src/a'],
    ] as const)
      expect([one, other, overlap(one, other)]).toEqual([one, other, false])
  })

  verifies('mail.lease.overlap', 'do not overlap when no path matches both', () => {
    for (const [one, other] of [
      ['src/*.ts', 'src/api/x.ts'],
      ['v1.2/*', 'v1.2'],
      ['v1.2/**/*', 'v1.2'],
      ['src', 'source'],
      ['src/a.ts', 'src/a.ts/x'],
      ['src/A.ts', 'src/a.ts'],
      ['**/*.ts', '**/*.js'],
      ['a*', 'b*'],
      ['src/[a-c].ts', 'src/[d-f].ts'],
      ['src/[!a].ts', 'src/a.ts'],
      ['{src,test}/**', 'docs/x'],
      ['?', '??'],
      ['a**b', 'a/b'],
      // No segment is empty, "." or "..".
      ['?', '[.]'],
      ['{a,}/b', 'b'],
      ['a/{**,x}y', 'a/b/y'],
    ] as const)
      expect([one, other, overlap(one, other)]).toEqual([one, other, false])
  })
})

describe('A pattern', () => {
  test('has one form, whatever its slashes and dots', () => {
    for (const [given, text, prefix] of [
      ['./src/', 'src', 'src'],
      ['src//api/./*.ts', 'src/api/*.ts', 'src/api'],
      ['src/**/**/x', 'src/**/x', 'src'],
      ['./', '**', ''],
      ['*.ts', '*.ts', ''],
      ['src/a.ts', 'src/a.ts', 'src/a.ts'],
      ['src/{a,b/c}/d', 'src/{a,b/c}/d', 'src'],
      ['v1.2/', 'v1.2/**', 'v1.2'],
      ['src/*/', 'src/*/**', 'src'],
      ['{{name}}/x', '{{name}}/x', '{{name}}/x'],
      ['app/[[]id]', 'app/[[]id]', 'app'],
    ] as const)
      expect(glob(given)).toMatchObject({ text, prefix })
  })

  test('may begin with the folder of the project, but with no other', () => {
    expect(glob('/srv/code/app/src/*.ts', '/srv/code/app').text).toBe('src/*.ts')
    expect(glob('/srv/code/app', '/srv/code/app/').text).toBe('**')
    expect(glob('C:/app/src', 'C:\\app').text).toBe('src')
    expect(faultOf('/srv/code/application/x', '/srv/code/app')).toMatch(/relative/)
    expect(glob('app/src', 'app').text).toBe('app/src')
  })

  verifies('mail.lease.bad-glob', 'that cannot be read says why', () => {
    for (const [bad, why] of [
      ['', /empty/],
      ['  ', /empty/],
      ['src/{a,b', /"\{" without/],
      ['src/{a', /"\{" without/],
      ['a\0b', /control/],
      ['a\nb', /control/],
      ['a\ud800', /control/],
      ['../x', /"\.\."/],
      ['src/../../x', /"\.\."/],
      ['src/..', /"\.\."/],
      ['{../a,b}', /"\.\."/],
      ['/etc/passwd', /relative/],
      ['~/x', /relative/],
      ['C:/x', /relative/],
      ['src\\a.ts', /"\/" between folders/],
      ['!src/**', /begin with "!"/],
      ['./!src/**', /begin with "!"/],
      ['./ ', /empty/],
      [`${'a'.repeat(509)}.b/`, /at most 512/],
      ['{1..3}', /range in braces/],
      [`${'{'.repeat(9)}a,b${'}'.repeat(9)}`, /nest/],
      ['a'.repeat(513), /at most 512/],
      ['*a'.repeat(17), /at most 16 wildcards/],
      ['{a,b}'.repeat(17), /at most 16 wildcards/],
    ] as const)
      expect([bad, faultOf(bad)]).toEqual([bad, expect.stringMatching(why)])
  })

  test('is found by the folders that lead to it', () => {
    expect(leadingTo('src/api/v1')).toEqual(['', 'src', 'src/api', 'src/api/v1'])
    expect(leadingTo('')).toEqual([''])
  })

  test('matches whole paths only', () => {
    expect(matches(glob('src'), 'src/a')).toBe(true)
    expect(matches(glob('src/*.ts'), 'src/a.ts')).toBe(true)
    for (const path of ['', 'src/', '/src/a.ts', 'src//a.ts', 'src/./a.ts', 'src/../a.ts', 'a/src/a.ts'])
      expect([path, matches(glob('src/**'), path)]).toEqual([path, false])
  })
})

describe('No pattern takes long:', () => {
  const full = (piece: string, wildcards: number, end = '') => `${piece.repeat(16 / wildcards)}${end}`
  const long = 'a'.repeat(440)
  const hard = [
    full('{a,b}', 1),
    full('{a,}', 1),
    full('{,{,a}}', 2, 'z'),
    full('*a', 1, `${long}b`),
    full('*a', 1, `${long}c`),
    full('**/a/', 1, 'x'),
    full('**/a/', 1, `${long.slice(100)}y`),
    full('{**,a}/', 2, 'z'),
    full('[!a]*', 2, 'q'),
    full('?*', 2, `${long}d`),
    `**/${long}/*/${full('?', 2, 'c')}`,
  ]
  // The bound is on the work, not on the time: a search that took exponential time would not end at all.
  test.each(hard)(
    '%s',
    (text) => {
      for (const other of hard) overlap(text, other)
    },
    30_000,
  )
})

describe('Compared with picomatch,', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'ab',
    '.a',
    'a.b',
    '*',
    '?',
    'a*',
    '*b',
    '*.b',
    '[ab]',
    '[!a]',
    '[^b]?',
    '[a-b]*',
  )
  const braces = fc.constantFrom('{a,b}', '{a,b*}c', '{a/b,b}', '{a,{b,c}}', '{a/*,b}', 'a{,b}')
  const segment = fc.oneof(
    { weight: 5, arbitrary: piece },
    { weight: 1, arbitrary: braces },
    { weight: 1, arbitrary: fc.constant('**') },
  )
  const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))
  const name = fc
    .string({ unit: fc.constantFrom('a', 'b', 'c', '.'), minLength: 1, maxLength: 3 })
    .filter((text) => text !== '.' && text !== '..')
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))

  /** A path without wildcards is also all below it, and a pattern with `/**` at its end is also the path before that. */
  function reference(text: string): (path: string) => boolean {
    const below = !/[*?[{]/.test(text) && !/[^/]\.[^./]+$/.test(text)
    const texts = [text, ...(below ? [`${text}/**`] : []), text.replace(/(\/\*\*)+$/, '')]
    return picomatch(texts, { dot: true, nonegate: true, noextglob: true, posix: true })
  }

  verifies('mail.lease.overlap', 'a pattern matches the same paths', () => {
    fc.assert(
      fc.property(pattern, path, (text, path) => {
        expect(matches(glob(text), path)).toBe(reference(text)(path))
      }),
      { numRuns: 3000 },
    )
  })

  verifies('mail.guard.matches', 'a matcher says the same, with what it has learned from other paths', () => {
    fc.assert(
      fc.property(pattern, fc.array(path, { minLength: 1, maxLength: 20 }), (text, paths) => {
        const matcher = matcherOf(glob(text))
        for (const path of paths)
          expect([text, path, matcher(readPath(path))]).toEqual([text, path, reference(text)(path)])
      }),
      { numRuns: 2000 },
    )
    const wide = matcherOf(glob('**/[à-ü]*/?'))
    for (const [path, found] of [
      ['x/größe/y', false],
      ['x/über/😀', true],
      ['über/\n', true],
      ['über', false],
    ] as const)
      expect([path, wide(readPath(path)), matches(glob('**/[à-ü]*/?'), path)]).toEqual([path, found, found])
  })

  verifies(
    'mail.lease.overlap',
    'two patterns overlap when a path matches both, and the path that proves it matches both',
    () => {
      fc.assert(
        fc.property(pattern, pattern, fc.array(path, { maxLength: 20 }), (one, other, paths) => {
          const [a, b] = [reference(one), reference(other)]
          const found = overlap(one, other)
          if (paths.some((path) => a(path) && b(path))) expect(found).toBe(true)
          const proof = commonPath(glob(one), glob(other))
          // It knows brackets as classes only.
          if (proof !== undefined && !/[[\]]/.test(proof))
            expect([proof, a(proof), b(proof)]).toEqual([proof, true, true])
        }),
        { numRuns: 2000 },
      )
    },
  )

  test('reading a pattern again changes nothing, and all it matches lies below its prefix', () => {
    fc.assert(
      fc.property(pattern, path, (text, path) => {
        const once = glob(`./${text}/`)
        expect(glob(once.text)).toEqual(once)
        if (matches(once, path)) expect(leadingTo(path)).toContain(once.prefix)
      }),
      { numRuns: 2000 },
    )
  })
})
